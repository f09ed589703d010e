"""Contacts in Drake: run by its own Python, for `contact_peer.py`.

In: a line of JSON per case on stdin: model ('point' or 'hydroelastic'), shape ('ball' or 'block',
both 0.1 m large), mass [kg], stiffness [N/m], dissipation [s/m], push [N], speed [m/s] down at
the begin, step [s], seconds. Out: a line of JSON per case: depth [mm] at the end, peak force [N],
rebound [m/s].
"""

import json
import sys

import numpy as np
from pydrake.all import (
    AddCompliantHydroelasticPropertiesForHalfSpace,
    AddContactMaterial,
    AddMultibodyPlant,
    AddRigidHydroelasticProperties,
    Box,
    CoulombFriction,
    DiagramBuilder,
    ExternallyAppliedSpatialForce,
    HalfSpace,
    MultibodyPlantConfig,
    ProximityProperties,
    RigidTransform,
    Simulator,
    SpatialForce,
    SpatialInertia,
    SpatialVelocity,
    Sphere,
    UnitInertia,
)

SIZE = 0.1  # [m]
THICKNESS = 1.0  # of the compliant ground [m]


def found(case):
    """Return the numbers of a case."""
    builder = DiagramBuilder()
    model = 'point' if case['model'] == 'point' else 'hydroelastic'
    config = MultibodyPlantConfig(
        time_step=case['step'], contact_model=model, discrete_contact_approximation='similar'
    )
    plant, _ = AddMultibodyPlant(config, builder)
    ball, mass = case['shape'] == 'ball', case['mass']
    shape = Sphere(SIZE / 2) if ball else Box(SIZE, SIZE, SIZE)
    unit = UnitInertia.SolidSphere(SIZE / 2) if ball else UnitInertia.SolidCube(SIZE)
    body = plant.AddRigidBody('body', SpatialInertia(mass, np.zeros(3), unit))
    friction, k = CoulombFriction(0.5, 0.5), case['stiffness']
    of_body, of_ground = ProximityProperties(), ProximityProperties()
    if model == 'point':  # two springs in series
        for each in (of_body, of_ground):
            AddContactMaterial(case['dissipation'] / 2, 2 * k, friction, each)
    else:
        AddRigidHydroelasticProperties(SIZE, of_body)
        modulus = k * THICKNESS / SIZE**2  # f = modulus SIZE^2 depth / THICKNESS
        AddCompliantHydroelasticPropertiesForHalfSpace(THICKNESS, modulus, of_ground)
        AddContactMaterial(0.0, None, friction, of_body)
        AddContactMaterial(case['dissipation'], None, friction, of_ground)
    here = RigidTransform()
    plant.RegisterCollisionGeometry(body, here, shape, 'body', of_body)
    plant.RegisterCollisionGeometry(plant.world_body(), here, HalfSpace(), 'ground', of_ground)
    plant.Finalize()
    diagram = builder.Build()
    simulator = Simulator(diagram)
    context = plant.GetMyMutableContextFromRoot(simulator.get_mutable_context())
    gap = 1.37e-4 if case['speed'] else 1e-6  # never exactly flush, which Drake refuses
    plant.SetFreeBodyPose(context, body, RigidTransform([0.0, 0.0, SIZE / 2 + gap]))
    down = SpatialVelocity(np.zeros(3), np.array([0.0, 0.0, -case['speed']]))
    plant.SetFreeBodySpatialVelocity(context, body, down)
    if case['speed']:
        plant.mutable_gravity_field().set_gravity_vector(np.zeros(3))
    push = ExternallyAppliedSpatialForce()
    push.body_index, push.p_BoBq_B = body.index(), np.zeros(3)
    push.F_Bq_W = SpatialForce(np.zeros(3), np.array([0.0, 0.0, -case['push']]))
    plant.get_applied_spatial_force_input_port().FixValue(context, [push])
    peak, before, simulate = 0.0, -case['speed'], simulator.AdvanceTo
    for number in range(round(case['seconds'] / case['step'])):
        simulate((number + 1) * case['step'])
        speed = plant.EvalBodySpatialVelocityInWorld(context, body).translational()[2]
        peak, before = max(peak, mass * (speed - before) / case['step']), speed
    height = plant.EvalBodyPoseInWorld(context, body).translation()[2]
    return {'depth_mm': 1e3 * (SIZE / 2 - height), 'peak': peak, 'rebound': before}


if __name__ == '__main__':
    for line in sys.stdin:
        sys.stdout.write(json.dumps(found(json.loads(line))) + '\n')
