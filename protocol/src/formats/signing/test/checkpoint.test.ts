import assert from 'node:assert/strict'
import { test } from 'node:test'
import { fromCanonicalBase64 } from '../../base64.ts'
import { nodeSuite as suite } from '../../../signing/receipt-verification.ts'
import {
  parseTrustedLog,
  parseVerifierKey,
  readCheckpoint,
  toTrustedLog,
  verifyNote,
  writeCheckpoint,
  writeNote,
  writeVerifierKey,
} from '../checkpoint.ts'

/** Example of Go's package sumdb/note, where the format originated. */
const verifierKey = 'PeterNeumann+c74f20a3+ARpc2QcUPDhMQegwxbzhKqiBfsVkmqq/LDE4izWy10TW'
const text = "If you think cryptography is the answer to your problem,\nthen you don't know what your problem is.\n"
const signatureLine =
  '— PeterNeumann x08go/ZJkuBS9UG/SffcvIAQxVBtiFupLLr8pAcElZInNIuGUgYN1FFYC2pZSNXgKvqfqdngotpRZb6KE6RyyBwJnAM='
const note = `${text}\n${signatureLine}\n`
const [name = '', , encoded = ''] = verifierKey.split('+')
const key = { name, publicKey: (fromCanonicalBase64(encoded) ?? new Uint8Array()).subarray(1) }

test('a note signed by another tool is verified and formatted again identically', () => {
  assert.equal(verifyNote(suite, note, key), text)
  assert.equal(writeVerifierKey(suite.sha256, key), verifierKey)
  const signature = Buffer.from(signatureLine.split(' ')[2] ?? '', 'base64').subarray(4)
  assert.equal(writeNote(suite.sha256, text, key, signature), note)
})

test('signatures of witnesses are kept in addition and ignored without their keys', () => {
  const witness = '— witness.example/1 x08go/ZJkuBS9UG/SffcvIAQxVBtiFupLLr8pA=='
  assert.equal(verifyNote(suite, `${text}\n${witness}\n${signatureLine}\n`, key), text)
  assert.equal(verifyNote(suite, `${text}\n${witness}\n`, key), undefined)
})

const altered: Record<string, string> = {
  'another text': note.replace('problem', 'Problem'),
  'another signature': note.replace('UG/Sff', 'UG/Sfg'),
  'another name': note.replace('— PeterNeumann', '— PeterNeuman'),
  'no signature': `${text}\n`,
  'no text': `\n\n${signatureLine}\n`,
  'no line break at its end': note.slice(0, -1),
  'a line that is no signature': `${note}nothing\n`,
  'a control character': note.replace('think', 'think\u0007'),
  'carriage returns': note.replaceAll('\n', '\r\n'),
  'more than a million characters': `${note}${`${signatureLine}\n`.repeat(10_000)}`,
  nothing: '',
}
for (const [what, sent] of Object.entries(altered))
  test(`a note with ${what} is rejected`, () => {
    assert.equal(verifyNote(suite, sent, key), undefined)
  })

test('a checkpoint has three lines, and any other text is rejected', () => {
  const checkpoint = { origin: 'id.example.com/log', size: 20, root: suite.sha256(new Uint8Array()) }
  const written = writeCheckpoint(checkpoint)
  assert.equal(written, 'id.example.com/log\n20\n47DEQpj8HBSa+/TImW+5JCeuQeRkm5NMpJWZG3hSuFU=\n')
  assert.deepEqual(readCheckpoint(written), { ...checkpoint, root: Uint8Array.from(checkpoint.root) })
  assert.equal(readCheckpoint(`${written}an extension\n`)?.size, 20)
  const wrong = [
    ...['', '\n', written.slice(0, -1), written.replace('id.example.com/log', ''), written.replace('20', '')],
    ...['020', '-1', '2e1', '0x14', ' 20', '2147483648', '99999999999'].map((size) => written.replace('20', size)),
    ...[written.replace('47DE', ''), written.replace('FU=', 'FV='), written.replace('+', '-')],
  ]
  for (const text of wrong) assert.equal(readCheckpoint(text), undefined, JSON.stringify(text))
})

test('TRU-17 a verifier key of another tool is parsed, and any other text is rejected', () => {
  assert.deepEqual(parseVerifierKey(suite.sha256, verifierKey), key)
  const plus = { name: 'id.example.com/log', publicKey: key.publicKey.with(3, 0xfb).with(4, 0xef) }
  assert.deepEqual(parseVerifierKey(suite.sha256, writeVerifierKey(suite.sha256, plus))?.name, plus.name)
  const smallOrder = { name, publicKey: new Uint8Array(32).with(0, 1) }
  const wrong = [
    ...['', name, `${verifierKey}\n`, ` ${verifierKey}`, `${verifierKey}A`, verifierKey.slice(1)],
    ...[verifierKey.replace('c74f20a3', 'c74f20a4'), verifierKey.replace('c74f20a3', 'C74F20A3')],
    ...[verifierKey.replace('ARpc', 'AhpC'), verifierKey.replace('+ARpc', '+BRpc'), verifierKey.slice(0, -4)],
    writeVerifierKey(suite.sha256, smallOrder),
    writeVerifierKey(suite.sha256, { ...key, name: 'Peter\u0007Neumann' }),
  ]
  for (const text of wrong) assert.equal(parseVerifierKey(suite.sha256, text), undefined, JSON.stringify(text))
})

test('TRU-17 a trust file names one log and its key, and any other value is rejected', () => {
  const log = toTrustedLog(suite.sha256, key)
  assert.deepEqual(log, { version: 1, origin: name, verifierKey })
  assert.deepEqual(parseTrustedLog(suite.sha256, JSON.parse(JSON.stringify(log))), key)
  const wrong: unknown[] = [
    ...[null, undefined, '', verifierKey, [], {}, { ...log, version: 2 }, { ...log, version: '1' }],
    ...[
      { ...log, origin: 'Peter' },
      { ...log, origin: undefined },
      { ...log, verifierKey: [verifierKey] },
    ],
  ]
  for (const value of wrong) assert.equal(parseTrustedLog(suite.sha256, value), undefined, JSON.stringify(value))
})
