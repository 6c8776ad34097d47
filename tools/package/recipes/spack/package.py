# SPDX-License-Identifier: BSD-3-Clause
# Spack's recipe: put it into a repository of recipes as the package murmur, then `spack dev-build` in a clone. A release adds its version() with the checksum of the source archive.
import os

from spack.package import *


class Murmur(CMakePackage):
    """An MPI-5.0 library on the standard ABI, and its launcher."""

    homepage = "file:///usr/share/doc/murmur-mpi-doc/html/index.html"
    has_code = True

    license("BSD-3-Clause")

    version("main")

    variant("fortran", default=True, description="Make Fortran's module files when building")
    variant("lto", default=True, description="Optimise the library as a whole when linking it")

    provides("mpi@:5")

    depends_on("c", type="build")
    depends_on("fortran", type="build", when="+fortran")
    depends_on("cmake@3.22:", type="build")
    depends_on("python@3.9:", type="build")
    depends_on("hwloc@2:")
    depends_on("libsodium", type=("build", "run"))

    conflicts("platform=darwin", msg="Murmur needs Linux")
    conflicts("platform=windows", msg="Murmur needs Linux")

    def cmake_args(self):
        return [self.define("MURMUR_TESTS", False), self.define_from_variant("MURMUR_LTO", "lto")]

    def setup_run_environment(self, env):
        env.set("MPICC", os.path.join(self.prefix.bin, "mpicc"))
        env.set("MPICXX", os.path.join(self.prefix.bin, "mpicxx"))
        env.set("MPIF77", os.path.join(self.prefix.bin, "mpif77"))
        env.set("MPIF90", os.path.join(self.prefix.bin, "mpif90"))

    def setup_dependent_build_environment(self, env, dependent_spec):
        env.set("MUR_CC", spack_cc)
        env.set("MUR_CXX", spack_cxx)
        env.set("MUR_FC", spack_fc)

    def setup_dependent_package(self, module, dependent_spec):
        self.spec.mpicc = os.path.join(self.prefix.bin, "mpicc")
        self.spec.mpicxx = os.path.join(self.prefix.bin, "mpicxx")
        self.spec.mpif77 = os.path.join(self.prefix.bin, "mpif77")
        self.spec.mpifc = os.path.join(self.prefix.bin, "mpifort")
