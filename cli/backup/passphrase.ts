import { limits } from '@countersign/protocol/formats/limits'
import { CliError, isInteractive, promptSecret } from '../terminal.ts'
import type { Settings } from '../settings.ts'

/** Reads the passphrase from the environment or the terminal only: other processes can read arguments. */
export async function promptPassphrase(settings: Settings): Promise<string> {
  const given = process.env.BACKUP_PASSPHRASE
  if (given) return given
  if (isInteractive(settings)) return promptSecret('Passphrase of the backup')
  throw new CliError('No encryption key: set BACKUP_PASSPHRASE or pass an age key (see --help)')
}

/** Checks the passphrase of a new file, because nothing else protects it. */
export function requireStrongPassphrase(passphrase: string): string {
  const { backupPassphraseCharactersMin: min } = limits
  if (passphrase.length >= min) return passphrase
  throw new CliError(`The passphrase must have at least ${min} characters`)
}
