/** Thread that decodes one picture and ends. It gives up every permission first: what it decodes is hostile. */
import { parentPort } from 'node:worker_threads'
import { guardEgress } from '#platform/egress.ts'
import { renderPicture } from './codec.ts'
import type { DecoderTask } from './workshop-thread.ts'

guardEgress()
for (const permission of ['child', 'worker', 'net', 'fs']) process.permission?.drop(permission)

async function decode({ modules, picture, sizes }: DecoderTask): Promise<void> {
  const rendered = await renderPicture(modules, picture, sizes)
  // oxlint-disable-next-line unicorn/require-post-message-target-origin -- A port of Node has no origin.
  parentPort?.postMessage(rendered)
}

parentPort?.once('message', (task: DecoderTask) => void decode(task))
