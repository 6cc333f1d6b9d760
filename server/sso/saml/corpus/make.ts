/**
 * Writes the corpus: answers of identity providers, each in a file of its own, and `index.json`, which says of each
 * what it is. `node server/sso/saml/corpus/make.ts` makes all of it anew, always the same, with keys that are there for
 * nothing else. A valid answer is accepted, and a hostile one refused, for the reason that stands in the index.
 */
import { mkdirSync, rmSync, writeFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import type { CorpusDocument } from './document.ts'
import { encryptions } from './hostile-encryption.ts'
import { signatures } from './hostile-signatures.ts'
import { statements } from './hostile-statements.ts'
import { wrapping } from './hostile-wrapping.ts'
import { xml } from './hostile-xml.ts'
import { valid } from './valid.ts'
import { validEncryptions } from './valid-encryption.ts'

/** Every file of the corpus by its path from this folder. */
export function makeCorpus(): Map<string, Buffer> {
  const hostile = [...wrapping, ...signatures, ...encryptions, ...statements, ...xml].toSorted((a, b) =>
    a.case < b.case ? -1 : +(a.case > b.case),
  )
  const documents = [...placed('valid', [...valid, ...validEncryptions]), ...placed('hostile', hostile)]
  const index = documents.map(({ path, document: { case: attack, what, because } }) => ({
    path,
    case: attack,
    what,
    because,
  }))
  const files = new Map(documents.map(({ path, document: { bytes } }) => [path, Buffer.from(bytes)]))
  return files.set('index.json', Buffer.from(`${JSON.stringify(index, undefined, 2)}\n`))
}

function placed(folder: string, documents: CorpusDocument[]): { path: string; document: CorpusDocument }[] {
  return documents.map((document, at) => {
    const number = String(at + 1).padStart(3, '0')
    return { path: `${folder}/${number}-${document.case.toLowerCase()}.xml`, document }
  })
}

if (import.meta.main) {
  for (const folder of ['valid', 'hostile']) rmSync(join(import.meta.dirname, folder), { recursive: true, force: true })
  for (const [path, bytes] of makeCorpus()) {
    const file = join(import.meta.dirname, path)
    mkdirSync(dirname(file), { recursive: true })
    writeFileSync(file, bytes)
  }
}
