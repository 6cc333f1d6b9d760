import { createHash, generateKeyPairSync, sign, type KeyObject } from 'node:crypto'

/** Data that an authenticator uses for its attestation (WebAuthn §6.5). */
export type Attesting = {
  authData: Buffer
  clientDataHash: Buffer
  publicKey: KeyObject
  sign: (data: Buffer) => Buffer
}

/** Attestation statement and its format. */
export type Statement = { fmt: string; attStmt: Map<string, unknown> }

/**
 * Attestation statements of the formats registered for WebAuthn (§8, IANA "WebAuthn Attestation Statement Format
 * Identifiers"), by an authenticator whose certificate names `crlUrl` as its revocation list. Every one of P-256 is as
 * valid as possible without a manufacturer's key.
 */
export function attestationStatements(crlUrl: string): Record<string, (made: Attesting) => Statement> {
  const chain = (made: Attesting) => certificateChain(made, crlUrl)
  const signed = ({ authData, clientDataHash, sign: signWith }: Attesting) =>
    signWith(Buffer.concat([authData, clientDataHash]))
  return {
    'android-key': (made) => ({
      fmt: 'android-key',
      attStmt: new Map<string, unknown>([
        ['alg', -7],
        ['sig', signed(made)],
        ['x5c', chain(made)],
      ]),
    }),
    'packed with a certificate': (made) => ({
      fmt: 'packed',
      attStmt: new Map<string, unknown>([
        ['alg', -7],
        ['sig', signed(made)],
        ['x5c', chain(made)],
      ]),
    }),
    'packed without a certificate, but with ECDAA': (made) => ({
      fmt: 'packed',
      attStmt: new Map<string, unknown>([
        ['alg', -7],
        ['sig', signed(made)],
        ['ecdaaKeyId', Buffer.alloc(32, 1)],
      ]),
    }),
    'packed with an empty list of certificates': (made) => ({
      fmt: 'packed',
      attStmt: new Map<string, unknown>([
        ['alg', -7],
        ['sig', signed(made)],
        ['x5c', []],
      ]),
    }),
    'packed with a member that no standard has': (made) => ({
      fmt: 'packed',
      attStmt: new Map<string, unknown>([
        ['alg', -7],
        ['sig', signed(made)],
        ['ver', '1'],
      ]),
    }),
    tpm: (made) => ({
      fmt: 'tpm',
      attStmt: new Map<string, unknown>([
        ['alg', -7],
        ['sig', signed(made)],
        ['ver', '2.0'],
        ['x5c', chain(made)],
        ['pubArea', Buffer.alloc(118, 1)],
        ['certInfo', Buffer.alloc(161, 1)],
      ]),
    }),
    'android-safetynet': () => ({
      fmt: 'android-safetynet',
      attStmt: new Map<string, unknown>([
        ['ver', '14366018'],
        ['response', Buffer.from('e30.e30.AA')],
      ]),
    }),
    'fido-u2f': (made) => ({
      fmt: 'fido-u2f',
      attStmt: new Map<string, unknown>([
        ['x5c', chain(made).slice(0, 1)],
        ['sig', signed(made)],
      ]),
    }),
    apple: (made) => ({ fmt: 'apple', attStmt: new Map([['x5c', chain(made)]]) }),
    'none with a statement': (made) => ({ fmt: 'none', attStmt: new Map([['x5c', chain(made)]]) }),
    compound: (made) => ({
      fmt: 'compound',
      attStmt: new Map([['0', new Map<string, unknown>(Object.entries({ fmt: 'none', attStmt: new Map() }))]]).set(
        '1',
        new Map<string, unknown>([
          ['fmt', 'android-key'],
          ['attStmt', new Map([['x5c', chain(made)]])],
        ]),
      ),
    }),
    'a format that no standard has': (made) => ({ fmt: 'example', attStmt: new Map([['x5c', chain(made)]]) }),
  }
}

/**
 * Builds the certificate of the passkey's own key, with the key description of Android (1.3.6.1.4.1.11129.2.1.17) and
 * its revocation list; and the self-signed root that has signed it.
 */
function certificateChain({ publicKey, clientDataHash }: Attesting, crlUrl: string): Buffer[] {
  const root = generateKeyPairSync('ec', { namedCurve: 'P-256' })
  const keyDescription = sequence(
    integer(3),
    enumerated(1),
    integer(4),
    enumerated(1),
    octets(clientDataHash),
    octets(Buffer.alloc(0)),
    sequence(),
    sequence(),
  )
  const distribution = sequence(sequence(tagged(0xa0, tagged(0xa0, tagged(0x86, Buffer.from(crlUrl))))))
  const basicConstraints = sequence(boolean(true))
  const leaf = certificate({ subject: 'Passkey', issuer: 'Root', publicKey, signer: root.privateKey }, [
    extension('1.3.6.1.4.1.11129.2.1.17', keyDescription),
    extension('2.5.29.31', distribution),
  ])
  const anchor = certificate({ subject: 'Root', issuer: 'Root', publicKey: root.publicKey, signer: root.privateKey }, [
    extension('2.5.29.19', basicConstraints),
    extension('2.5.29.14', octets(createHash('sha1').update('Root').digest())),
  ])
  return [leaf, anchor]
}

type Naming = { subject: string; issuer: string; publicKey: KeyObject; signer: KeyObject }

/** Builds an X.509 certificate (RFC 5280 §4.1), signed by ECDSA with SHA-256. */
function certificate({ subject, issuer, publicKey, signer }: Naming, extensions: Buffer[]): Buffer {
  const algorithm = sequence(oid('1.2.840.10045.4.3.2'))
  const validity = sequence(tagged(0x17, Buffer.from('200101000000Z')), tagged(0x17, Buffer.from('490101000000Z')))
  const signable = sequence(
    tagged(0xa0, integer(2)),
    integer(subject.length),
    algorithm,
    name(issuer),
    validity,
    name(subject),
    publicKey.export({ type: 'spki', format: 'der' }),
    tagged(0xa3, sequence(...extensions)),
  )
  return sequence(signable, algorithm, bits(sign('sha256', signable, signer)))
}

const name = (common: string) =>
  sequence(tagged(0x31, sequence(oid('2.5.4.3'), tagged(0x0c, Buffer.from(common, 'utf8')))))
const extension = (id: string, value: Buffer) => sequence(oid(id), octets(value))
const integer = (value: number) => tagged(0x02, Buffer.from([value]))
const enumerated = (value: number) => tagged(0x0a, Buffer.from([value]))
const boolean = (value: boolean) => tagged(0x01, Buffer.from([value ? 0xff : 0]))
const octets = (value: Buffer) => tagged(0x04, value)
const bits = (value: Buffer) => tagged(0x03, Buffer.concat([Buffer.from([0]), value]))
const sequence = (...parts: Buffer[]) => tagged(0x30, Buffer.concat(parts))

/** Encodes an object identifier (X.690 §8.19). */
function oid(dotted: string): Buffer {
  const [first = 0, second = 0, ...others] = dotted.split('.').map(Number)
  return tagged(0x06, Buffer.from([first * 40 + second, ...others.flatMap(base128)]))
}

function base128(value: number): number[] {
  const low = value & 0x7f
  return value < 0x80 ? [low] : [...base128(value >> 7).map((byte) => byte | 0x80), low]
}

function tagged(tag: number, value: Buffer): Buffer {
  const { length } = value
  if (length < 0x80) return Buffer.concat([Buffer.from([tag, length]), value])
  if (length < 0x100) return Buffer.concat([Buffer.from([tag, 0x81, length]), value])
  return Buffer.concat([Buffer.from([tag, 0x82, length >> 8, length & 0xff]), value])
}
