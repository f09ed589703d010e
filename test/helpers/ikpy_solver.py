"""A solver of PyPI's ikpy in a package of a user: what `write_plugins` takes."""

MODULE = """
    import tempfile

    import numpy as np
    from ikpy.chain import Chain

    from arm_dynamics.inverse_kinematics import Solutions, Solver


    class Ikpy(Solver):
        def __init__(self, model, chain):
            with tempfile.NamedTemporaryFile('w', suffix='.urdf') as file:
                file.write(model.urdf)
                file.flush()
                self.ikpy = Chain.from_urdf_file(
                    file.name, base_elements=[model.base_frame], symbolic=False
                )
            self.moving = [i for i, link in enumerate(self.ikpy.links) if link.has_rotation]

        def solve(self, target, task, starts):
            start = np.zeros(len(self.ikpy.links))
            start[self.moving] = starts[0]
            found = self.ikpy.inverse_kinematics_frame(
                target, initial_position=start, orientation_mode='all'
            )
            return Solutions(found[self.moving])
    """
PLUGIN = {'ikpy_solver': MODULE}, {'arm_sim.solvers': {'ikpy': 'ikpy_solver:Ikpy'}}
