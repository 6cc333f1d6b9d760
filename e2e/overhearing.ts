/** What only a person and their browser may know, and where it is not to be found. */
import { keyFromRecoveryCode } from '@countersign/keys/recovery-code'
import { ciphertextContext } from '@countersign/protocol/formats/ciphertext-context'
import type { Served } from '../server/testing/service.ts'
import type { Person, Sent } from './person.ts'
import { spellingsIn, type Secret } from './secret.ts'

/** Notes every PRF output that a page of this person sees. */
export async function overhearPrf(person: Person): Promise<Secret[]> {
  const heard: Secret[] = []
  await person.context.exposeFunction('hearPrf', (bytes: number[]) => {
    heard.push({ name: 'PRF output', bytes: Uint8Array.from(bytes) })
  })
  await person.context.addInitScript(() => {
    const read = PublicKeyCredential.prototype.getClientExtensionResults
    PublicKeyCredential.prototype.getClientExtensionResults = function results(this: PublicKeyCredential) {
      const found = read.call(this)
      const output = found.prf?.results?.first
      const tell: unknown = Reflect.get(globalThis, 'hearPrf')
      if (output instanceof ArrayBuffer && typeof tell === 'function') tell([...new Uint8Array(output)])
      return found
    }
  })
  return heard
}

/** The master key itself, which only whoever holds the recovery code can open. */
export async function openMasterKeyBytes(
  person: Person,
  { baseUrl }: Pick<Served, 'baseUrl'>,
  code: string,
): Promise<Uint8Array> {
  const { user } = await person.ask(baseUrl, 'GET /api/auth/session')
  const { keyWraps } = await person.ask(baseUrl, 'GET /api/account/key-wraps')
  const wrap = keyWraps.find(({ kind }) => kind === 'recovery_code')
  const key = await keyFromRecoveryCode(code)
  return key.open(ciphertextContext.masterKey(user.userId), wrap?.ciphertext ?? '')
}

export function secretsOfCode(code: string): Secret[] {
  const spelled = [code, code.replaceAll('-', ''), code.replaceAll('-', ' ')]
  const texts = spelled.map((text) => ({ name: 'recovery code', bytes: Buffer.from(text) }))
  return [...texts, { name: 'bytes of the recovery code', bytes: bytesOfCode(code) }]
}

/** Crockford's base32, written down a second time: what finds a leak shares no code with what might leak. */
function bytesOfCode(code: string): Uint8Array {
  const digits = code.replaceAll('-', '')
  const value = [...digits].reduce(
    (sum, digit) => sum * 32n + BigInt('0123456789ABCDEFGHJKMNPQRSTVWXYZ'.indexOf(digit)),
    0n,
  )
  return Buffer.from(value.toString(16).padStart(40, '0'), 'hex')
}

/** The secrets in what a browser sent. */
export function leaks(sent: Sent[], secrets: Secret[]): string[] {
  return sent.flatMap(({ url, headers, body }) => {
    const text = [decodeURIComponent(url), url, JSON.stringify(headers), body.toString('latin1'), body.toString()]
    return secrets.flatMap((secret) =>
      spellingsIn(text.join('\n'), secret).map((spelling) => `${secret.name} as ${spelling} to ${url}`),
    )
  })
}
