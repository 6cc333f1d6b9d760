/** Types of the platform that the codecs name and that Node's types do not have. */

declare namespace WebAssembly {
  type Imports = Record<string, Record<string, unknown>>
  interface Module {
    readonly kind?: never
  }
  const Module: {
    new (bytes: Uint8Array): Module
    imports: (module: Module) => { module: string; name: string }[]
  }
  class Instance {
    constructor(module: Module, imports: Imports)
    readonly exports: Record<string, unknown>
  }
}

declare namespace EmscriptenWasm {
  type Module = object
  type ModuleFactory<Instance> = (options: object) => Promise<Instance>
}

interface ImageData {
  readonly data: Uint8ClampedArray
  readonly width: number
  readonly height: number
}
