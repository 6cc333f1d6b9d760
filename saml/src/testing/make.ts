/**
 * Generates the corpus of SAML responses: valid ones must be accepted, and each hostile one must be rejected for the
 * reason that it names. The output is always the same. Its keys are used for nothing else.
 */
import type { CorpusDocument } from './document.ts'
import { encryptions } from './hostile-encryption.ts'
import { signatures } from './hostile-signatures.ts'
import { statements } from './hostile-statements.ts'
import { wrapping } from './hostile-wrapping.ts'
import { xml } from './hostile-xml.ts'
import { valid } from './valid.ts'
import { validEncryptions } from './valid-encryption.ts'

export type CorpusEntry = CorpusDocument & { name: string; kind: 'valid' | 'hostile' }

export function makeCorpus(): CorpusEntry[] {
  const hostile = [...wrapping, ...signatures, ...encryptions, ...statements, ...xml].toSorted((a, b) =>
    a.case < b.case ? -1 : +(a.case > b.case),
  )
  return [...named('valid', [...valid, ...validEncryptions]), ...named('hostile', hostile)]
}

function named(kind: CorpusEntry['kind'], documents: CorpusDocument[]): CorpusEntry[] {
  return documents.map((document, index) => ({
    ...document,
    kind,
    name: `${kind} ${index + 1} (${document.case})`,
  }))
}
