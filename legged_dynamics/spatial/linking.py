# Copyright 2026 legged_dynamics maintainers
# SPDX-License-Identifier: Apache-2.0
"""
How compiled functions are put together: parts are optimized once, inside the kernels of them.

Numba makes machine code of every function, and optimizes it together with all that it calls: a
part at the bottom of ten layers is optimized ten times. Here a part is kept as it was translated,
and the kernel takes in all its parts, each once, before anything is optimized.
"""
from __future__ import annotations

from typing import Any

from numba import _dynfunc
from numba.core import codegen, compiler, typed_passes
from numba.core.compiler_machinery import register_pass


class _Library(codegen.JITCodeLibrary):
    def _optimize_functions(self, ll_module: Any) -> None:
        """Optimize nothing yet."""
        ll_module.data_layout = self._codegen._data_layout


class _PartLibrary(_Library):
    """Code of a part, which only kernels run."""

    def finalize(self) -> None:
        """Leave everything to the kernel."""
        self._raise_if_finalized()
        self._finalize_dynamic_globals()
        self._finalized = True


class _KernelLibrary(_Library):
    """Code of a kernel with all its parts."""

    _linking_libraries: list[Any]

    def finalize(self) -> None:
        """Link in each part once, however deep it is used; optimize, and make machine code."""
        waiting, found = self._linking_libraries, dict[Any, None]()
        while waiting:
            library = waiting.pop()
            if library not in found:
                found[library] = None
                if isinstance(library, _PartLibrary):
                    waiting += library._linking_libraries
        self._linking_libraries = list(found)
        super().finalize()


@register_pass(mutates_CFG=True, analysis_only=False)
class _PartLowering(typed_passes.NativeLowering):
    _name = 'part_lowering'

    def run_pass(self, state: Any) -> bool:
        """Translate, and make the result known to those who call it."""
        state.library = _PartLibrary(state.targetctx.codegen(), state.func_id.func_qualname)
        state.flags.no_compile = True
        super().run_pass(state)
        result = state['cr']
        fndesc = result.fndesc
        nothing = _dynfunc.make_function(
            fndesc.lookup_module(), fndesc.qualname.split('.')[-1], '', 0, result.env,
            (state.library,))
        state.targetctx.insert_user_function(nothing, fndesc, [state.library])
        state.reload_init.extend(state.library._reload_init)
        state['cr'] = result._replace(cfunc=nothing)
        return True


@register_pass(mutates_CFG=True, analysis_only=False)
class _KernelLowering(typed_passes.NativeLowering):
    _name = 'kernel_lowering'

    def run_pass(self, state: Any) -> bool:
        """Translate into a library that looks for parts at any depth."""
        state.library = _KernelLibrary(state.targetctx.codegen(), state.func_id.func_qualname)
        state.library.enable_object_caching()
        return super().run_pass(state)


class KernelPipeline(compiler.CompilerBase):
    """Numba's own passes, with another last one."""

    lowering: type = _KernelLowering

    def define_pipelines(self) -> list[Any]:
        """Return the passes."""
        pipeline = compiler.DefaultPassBuilder.define_nopython_pipeline(self.state)
        pipeline.passes = [
            (self.lowering, said) if which is typed_passes.NativeLowering else (which, said)
            for which, said in pipeline.passes]
        pipeline.finalize()
        return [pipeline]


class PartPipeline(KernelPipeline):
    """The same for parts."""

    lowering = _PartLowering
