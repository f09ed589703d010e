"""Requests of services as bytes, which rclpy cannot send: a publisher of rmw's own."""

import ctypes

import rclpy
from rosidl_runtime_py.utilities import get_service

_RELIABLE, _VOLATILE, _KEEP_LAST, _AUTOMATIC = 1, 2, 1, 1


class _Qos(ctypes.Structure):
    """rmw_qos_profile_t."""

    _fields_ = (
        ('history', ctypes.c_int),
        ('depth', ctypes.c_size_t),
        ('reliability', ctypes.c_int),
        ('durability', ctypes.c_int),
        ('deadline', ctypes.c_uint64 * 2),
        ('lifespan', ctypes.c_uint64 * 2),
        ('liveliness', ctypes.c_int),
        ('lease', ctypes.c_uint64 * 2),
        ('avoid_ros_namespace_conventions', ctypes.c_bool),
    )


class _Options(ctypes.Structure):
    """rmw_publisher_options_t."""

    _fields_ = (
        ('payload', ctypes.c_void_p),
        ('unique_flow', ctypes.c_int),
        ('disable_loaned', ctypes.c_bool),
    )


class _Bytes(ctypes.Structure):
    """rmw_serialized_message_t."""

    _fields_ = (
        ('buffer', ctypes.c_void_p),
        ('length', ctypes.c_size_t),
        ('capacity', ctypes.c_size_t),
        ('allocator', ctypes.c_void_p * 5),
    )


def _library(name):
    """Return a shared library that this process has loaded."""
    with open('/proc/self/maps') as maps:
        path = next(line.split()[-1] for line in maps if f'/{name}.so' in line)
    return ctypes.CDLL(path)


def _pointer(capsule):
    api = ctypes.pythonapi
    api.PyCapsule_GetName.restype = ctypes.c_char_p
    api.PyCapsule_GetName.argtypes = [ctypes.py_object]
    api.PyCapsule_GetPointer.restype = ctypes.c_void_p
    api.PyCapsule_GetPointer.argtypes = [ctypes.py_object, ctypes.c_char_p]
    return api.PyCapsule_GetPointer(capsule, api.PyCapsule_GetName(capsule))


class RawRequests:
    """Sends bytes as requests to one service."""

    def __init__(self, node, service, kind):
        """`kind`: class of the service, or its name."""
        self.request = (get_service(kind) if isinstance(kind, str) else kind).Request
        self.request.__import_type_support__()
        rcl = _library('librcl')
        self._rmw = _library('lib' + rclpy.get_rmw_implementation_identifier())
        rcl.rcl_node_get_rmw_handle.restype = ctypes.c_void_p
        rcl.rcl_node_get_rmw_handle.argtypes = [ctypes.c_void_p]
        create = self._rmw.rmw_create_publisher
        create.restype = ctypes.c_void_p
        create.argtypes = [ctypes.c_void_p, ctypes.c_void_p, ctypes.c_char_p] + [
            ctypes.c_void_p
        ] * 2
        none = (ctypes.c_uint64 * 2)()
        qos = _Qos(_KEEP_LAST, 100, _RELIABLE, _VOLATILE, none, none, _AUTOMATIC, none, True)
        with node.handle:
            handle = rcl.rcl_node_get_rmw_handle(node.handle.pointer)
            self._publisher = create(
                handle,
                _pointer(self.request._TYPE_SUPPORT),
                f'rq{service}Request'.encode(),
                ctypes.byref(qos),
                ctypes.byref(_Options()),
            )
        assert self._publisher

    def matched(self):
        """Whether the service is there."""
        number = ctypes.c_size_t()
        count = self._rmw.rmw_publisher_count_matched_subscriptions
        count.argtypes = [ctypes.c_void_p, ctypes.c_void_p]
        assert count(self._publisher, ctypes.byref(number)) == 0
        return number.value > 0

    def send(self, raw):
        """Send bytes; those that DDS would not send are left out."""
        buffer = ctypes.create_string_buffer(raw, len(raw))
        message = _Bytes(ctypes.cast(buffer, ctypes.c_void_p), len(raw), len(raw))
        publish = self._rmw.rmw_publish_serialized_message
        publish.argtypes = [ctypes.c_void_p] * 3
        publish(self._publisher, ctypes.byref(message), None)
