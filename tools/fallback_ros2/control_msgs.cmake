cmake_minimum_required(VERSION 3.16)
project(control_msgs)

find_package(ament_cmake REQUIRED)
find_package(action_msgs REQUIRED)
find_package(builtin_interfaces REQUIRED)
find_package(rosidl_default_generators REQUIRED)
find_package(std_msgs REQUIRED)
find_package(trajectory_msgs REQUIRED)

file(GLOB interfaces RELATIVE ${CMAKE_CURRENT_SOURCE_DIR} msg/*.msg srv/*.srv action/*.action)
rosidl_generate_interfaces(${PROJECT_NAME} ${interfaces}
  DEPENDENCIES action_msgs builtin_interfaces std_msgs trajectory_msgs)

ament_export_dependencies(rosidl_default_runtime)
ament_package()
