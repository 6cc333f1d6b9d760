import { type ChildProcess, execFile, spawn } from 'node:child_process'
import { chownSync, closeSync, mkdirSync, mkdtempSync, openSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { endingSignals, removeFolder, unprivilegedOwner } from '../../tools/postgres.ts'

export type Servers = ReturnType<typeof openServers>
type Environment = Record<string, string>

/**
 * Starts servers in a temporary folder, as the user of PostgreSQL if this process is root's. They end, and the folder
 * is removed, with `end` or this process, also by SIGINT, SIGTERM or SIGHUP.
 */
export function openServers(name: string) {
  const owner = unprivilegedOwner()
  const folder = mkdtempSync(join(tmpdir(), `countersign-${name}-`))
  if (owner) chownSync(folder, owner.uid, owner.gid)
  const environment = { PATH: `${process.env['PATH']}:/usr/sbin`, LC_ALL: 'C.UTF-8' }
  const endings: (() => void)[] = []

  const end = () => {
    process.off('exit', end)
    for (const signal of endingSignals) process.off(signal, atSignal)
    for (const ending of endings.splice(0).toReversed()) ending()
    removeFolder(folder)
  }
  const atSignal = (_: string, number: number) => process.exit(128 + number)
  process.once('exit', end)
  for (const signal of endingSignals) process.once(signal, atSignal)

  return {
    folder,
    end,
    /** Does something before the servers that were started until now end. */
    atEnd: (ending: () => void) => void endings.push(ending),
    makeFolder(name: string): string {
      const made = join(folder, name)
      mkdirSync(made, { mode: 0o700 })
      if (owner) chownSync(made, owner.uid, owner.gid)
      return made
    },
    /** Starts a server. Its output is added to a file of the folder. */
    start(program: string, parameters: string[], own: Environment = {}): ChildProcess {
      const log = openSync(join(folder, `${program}.log`), 'a')
      const env = { ...environment, ...own }
      const server = spawn(program, parameters, { cwd: folder, env, stdio: ['ignore', log, log], ...owner })
      closeSync(log)
      endings.push(() => server.kill('SIGKILL'))
      return server
    },
    /** Runs a command. Rejects if it fails. */
    async run(program: string, parameters: string[], own: Environment = {}): Promise<void> {
      await promisify(execFile)(program, parameters, { cwd: folder, env: { ...environment, ...own }, ...owner })
    },
  }
}
