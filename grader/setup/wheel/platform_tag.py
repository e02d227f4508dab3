"""A hook for hatchling: the wheel has programs of one machine, and works with any Python 3."""

import os

from hatchling.builders.hooks.plugin.interface import BuildHookInterface


class PlatformTagBuildHook(BuildHookInterface):
    def initialize(self, version, build_data):
        build_data["pure_python"] = False
        build_data["tag"] = f"py3-none-linux_{os.environ['LAB32_MACHINE']}"
