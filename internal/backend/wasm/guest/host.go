package guest

import (
	"context"

	"github.com/tetratelabs/wazero"
	"github.com/tetratelabs/wazero/api"
	"github.com/tetratelabs/wazero/imports/wasi_snapshot_preview1"

	"github.com/cordon-sandbox/cordon/internal/wasmbin"
)

// toolModule has the functions with which guests call cordon:
//
//	ask(question, length) -> length of the answer
//	answer(to)            copies it
//
// tools.go describes the questions.
const toolModule = "cordon"

// HostModules are the modules that guests can import from. The last one is for code that
// cordon inserts into modules.
var HostModules = []string{wasi_snapshot_preview1.ModuleName, toolModule, wasmbin.HostModule}

// AddHostFunctions defines the functions that guests can import in addition to WASI.
func AddHostFunctions(ctx context.Context, r wazero.Runtime) error {
	i32, i64 := api.ValueTypeI32, api.ValueTypeI64
	_, err := r.NewHostModuleBuilder(wasmbin.HostModule).
		NewFunctionBuilder().WithGoModuleFunction(api.GoModuleFunc(refill), []api.ValueType{i64}, []api.ValueType{i64}).Export(wasmbin.Refill).
		NewFunctionBuilder().WithGoModuleFunction(api.GoModuleFunc(overflow), nil, nil).Export(wasmbin.Overflow).
		Instantiate(ctx)
	if err != nil {
		return err
	}
	_, err = r.NewHostModuleBuilder(toolModule).
		NewFunctionBuilder().WithGoModuleFunction(api.GoModuleFunc(ask), []api.ValueType{i32, i32}, []api.ValueType{i32}).Export("ask").
		NewFunctionBuilder().WithGoModuleFunction(api.GoModuleFunc(answer), []api.ValueType{i32}, nil).Export("answer").
		Instantiate(ctx)
	return err
}

type guestKey struct{}

func guestOf(ctx context.Context) *Guest { return ctx.Value(guestKey{}).(*Guest) }

func refill(ctx context.Context, _ api.Module, stack []uint64) {
	stack[0] = uint64(guestOf(ctx).refill(int64(stack[0])))
}

func overflow(ctx context.Context, _ api.Module, _ []uint64) {
	guestOf(ctx).overflow()
}
