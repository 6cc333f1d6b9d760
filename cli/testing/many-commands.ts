/**
 * Runs commands one after another in one process, because most take less time than their start. Each argument has the
 * words of one, in lines. Prints a JSON list of what each wrote.
 */
import { writeSync } from 'node:fs'
import { inspect } from 'node:util'

const commands = process.argv.slice(2).map((words) => words.split('\n'))
const written: string[] = []
let latest = ''
for (const stream of [process.stdout, process.stderr])
  stream.write = (chunk: string | Uint8Array) => {
    latest += String(chunk)
    return true
  }
for (const [nth, words] of commands.entries()) {
  latest = ''
  process.argv = [process.execPath, 'countersign', ...words]
  try {
    // Another address is another module: the command runs again.
    await import(`../main.ts?${nth}`)
  } catch (error) {
    latest += inspect(error)
  }
  written.push(latest)
}
writeSync(1, JSON.stringify(written))
