import { Failure } from '../failure.ts'
import type { Settings } from '../settings.ts'
import { askSecret, mayAsk } from '../terminal.ts'

const passphraseCharactersMin = 16

/** Only from the environment or the keyboard: an argument would show it to every process of the machine. */
export async function readPassphrase(settings: Settings): Promise<string> {
  const given = process.env.BACKUP_PASSPHRASE
  if (given) return given
  if (mayAsk(settings)) return askSecret('Passphrase of the backup')
  throw new Failure('Nothing to encrypt or decrypt with: set BACKUP_PASSPHRASE, or name an age key (--help tells more)')
}

/** For a new file: the passphrase is all that stands between it and whoever finds it. */
export function requireStrong(passphrase: string): string {
  if (passphrase.length >= passphraseCharactersMin) return passphrase
  throw new Failure(`The passphrase must have at least ${passphraseCharactersMin} characters`)
}
