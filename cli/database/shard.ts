import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { existsSync } from 'node:fs'
import { join } from 'node:path'
import type { Command } from 'commander'
import { CliError } from '../terminal.ts'

/** A program of the server, because it needs the database, and the admin API has no access to its nodes. */
const program = join(import.meta.dirname, '../../server/shard.ts')

/** Adds `shard`. */
export function addShard(parent: Command): void {
  parent
    .command('shard')
    .description(
      "distribute the server's database on its Citus cluster, or what a new version has added to it (experimental)",
    )
    .option('--plan', 'print where each table belongs, and change nothing')
    .addHelpText('after', '\nReads DATABASE_URL, as the server does. The server must not run.')
    .action(async ({ plan }: { plan?: boolean }) => {
      if (!existsSync(program))
        throw new CliError('Run it where the server is installed: its part of this command is missing.')
      const child = spawn(process.execPath, [program, ...(plan === true ? ['--plan'] : [])], { stdio: 'inherit' })
      await once(child, 'exit')
      process.exitCode = child.exitCode ?? 1
    })
}
