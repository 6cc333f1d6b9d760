/**
 * Thread that starts a decoder for each picture and ends it when it takes too long. Only this thread may start others,
 * so that the process which serves requests need not have the permission (decision 35).
 */
import { readFile } from 'node:fs/promises'
import { parentPort, Worker } from 'node:worker_threads'
import { guardEgress } from '#platform/egress.ts'
import type { PictureFormat } from '../header.ts'
import type { CodecModules, CodecPart, Fit } from './codec.ts'
import { limitMemory } from './memory-limit.ts'

/** A picture of a known format and size, to be rendered as squares of these sizes. */
export type PictureToRender = {
  format: PictureFormat
  bytes: Uint8Array<ArrayBuffer>
  width: number
  height: number
  fit: Fit
}
export type WorkshopTask = { picture: PictureToRender; sizes: readonly number[]; milliseconds: number }
export type DecoderTask = Pick<WorkshopTask, 'picture' | 'sizes'> & { modules: CodecModules }
/** Rendered pictures in the order of the sizes, or why there are none, and if it took too long. */
export type WorkshopResult = { rendered: Uint8Array[] } | { failure: string; isLate?: true }

const files: Record<CodecPart, string> = {
  png: '@jsquash/png/codec/pkg/squoosh_png_bg.wasm',
  jpeg: '@jsquash/jpeg/codec/dec/mozjpeg_dec.wasm',
  webp: '@jsquash/webp/codec/dec/webp_dec.wasm',
  resize: '@jsquash/resize/lib/resize/pkg/squoosh_resize_bg.wasm',
  encode: '@jsquash/webp/codec/enc/webp_enc_simd.wasm',
}

/** 200 MiB: three times what the pixels of the largest picture take. */
const memoryPagesMax = 3200
const heapMebibytesMax = 64

guardEgress()
process.permission?.drop('child')

async function compile(part: CodecPart): Promise<WebAssembly.Module> {
  const bytes = await readFile(new URL(import.meta.resolve(files[part])))
  return new WebAssembly.Module(limitMemory(bytes, memoryPagesMax))
}

async function compileAll(): Promise<CodecModules> {
  const [png, jpeg, webp, resize, encode] = await Promise.all([
    compile('png'),
    compile('jpeg'),
    compile('webp'),
    compile('resize'),
    compile('encode'),
  ])
  return { png, jpeg, webp, resize, encode }
}

let modules: Promise<CodecModules> | undefined

async function render({ milliseconds, ...task }: WorkshopTask): Promise<WorkshopResult> {
  const data: DecoderTask = { ...task, modules: await (modules ??= compileAll()) }
  const decoder = new Worker(new URL('./decoder-thread.ts', import.meta.url), {
    env: {},
    resourceLimits: { maxOldGenerationSizeMb: heapMebibytesMax, maxYoungGenerationSizeMb: 8, codeRangeSizeMb: 16 },
  })
  const { promise, resolve } = Promise.withResolvers<WorkshopResult>()
  const late = setTimeout(() => resolve({ failure: 'took too long', isLate: true }), milliseconds)
  decoder.once('message', (rendered: Uint8Array[]) => resolve({ rendered }))
  decoder.once('error', (error) => resolve({ failure: String(error) }))
  decoder.once('exit', () => resolve({ failure: 'ended without a result' }))
  // oxlint-disable-next-line unicorn/require-post-message-target-origin -- A thread has no origin.
  decoder.postMessage(data)
  const result = await promise
  clearTimeout(late)
  await decoder.terminate()
  return result
}

async function answer(task: WorkshopTask): Promise<void> {
  const result = await render(task).catch((error: unknown): WorkshopResult => ({ failure: String(error) }))
  // oxlint-disable-next-line unicorn/require-post-message-target-origin -- A port of Node has no origin.
  parentPort?.postMessage(result)
}

parentPort?.on('message', (task: WorkshopTask) => void answer(task))
