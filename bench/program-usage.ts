import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { join } from 'node:path'
import { text } from 'node:stream/consumers'
import { fieldsOf } from './implementation.ts'

/** Runs a program of Node to its end, and returns its processor time and its peak memory. */
export async function usageOf(
  words: string[],
  environment: Record<string, string>,
): Promise<{ seconds: number; megabytes: number }> {
  const child = spawn(process.execPath, ['--import', join(import.meta.dirname, 'usage.ts'), ...words], {
    env: { PATH: process.env['PATH'] ?? '', ...environment },
    stdio: ['ignore', 'ignore', 'inherit', 'pipe'],
  })
  const report = child.stdio[3]
  if (!report || !('readable' in report)) throw new Error('the program has no third descriptor')
  const [usage] = await Promise.all([text(report), once(child, 'close')])
  if (child.exitCode !== 0) throw new Error(`${words.join(' ')} ended with ${child.exitCode}`)
  const { seconds, megabytes } = fieldsOf(usage)
  return { seconds: Number(seconds), megabytes: Number(megabytes) }
}
