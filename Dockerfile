# docs/environment.md's section "With an existing ROS 2 Jazzy" in a container. Not run where this was written.
#   docker build -t arm_sim .
#   docker run --rm -v "$PWD/cube_output:/arm_sim/cube_output" arm_sim
FROM ros:jazzy

RUN apt-get update && apt-get install -y --no-install-recommends python3-pip python3-venv \
    && rm -rf /var/lib/apt/lists/*

WORKDIR /arm_sim
COPY package.xml ./
COPY arm_interfaces/package.xml arm_interfaces/
RUN apt-get update && rosdep update \
    && rosdep install --from-paths . arm_interfaces --ignore-src -y \
    && rm -rf /var/lib/apt/lists/*

COPY . .
RUN . /opt/ros/jazzy/setup.sh && ./ws true

ENTRYPOINT ["/ros_entrypoint.sh", "./ws"]
CMD ["ros2", "launch", "arm_sim", "cube.launch.py"]
