# A package of interfaces, for C and Python only: C++ doubles the time, and nobody here includes it.
cmake_minimum_required(VERSION 3.16)
get_filename_component(name ${CMAKE_CURRENT_SOURCE_DIR} NAME)
project(${name})

set(dependencies
  action_msgs builtin_interfaces geometry_msgs lifecycle_msgs sensor_msgs std_msgs trajectory_msgs)
foreach(each ament_cmake rosidl_default_generators ${dependencies})
  find_package(${each} REQUIRED)
endforeach()
list(FILTER AMENT_EXTENSIONS_rosidl_generate_idl_interfaces EXCLUDE REGEX _cpp)

file(GLOB interfaces RELATIVE ${CMAKE_CURRENT_SOURCE_DIR} msg/*.msg srv/*.srv action/*.action)
rosidl_generate_interfaces(${PROJECT_NAME} ${interfaces} DEPENDENCIES ${dependencies})

ament_export_dependencies(rosidl_default_runtime)
ament_package()
