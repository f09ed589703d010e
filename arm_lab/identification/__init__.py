"""Identification of an arm: exciting motions, inertial parameters, friction and motors."""
