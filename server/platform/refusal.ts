/**
 * Something the caller may be told: a status, a code of the interface, a sentence. Everything else that is thrown is
 * our own fault. The sentence keeps to the characters of RFC 6749 §5.2, for OAuth clients read it too.
 */
export class Refusal extends Error {
  readonly status: number
  readonly code: string
  readonly fields: Readonly<Record<string, unknown>>
  readonly headers: Readonly<Record<string, string>>

  constructor(status: number, code: string, sentence: string, more: Refused = {}) {
    super(plain(sentence))
    this.status = status
    this.code = code
    this.fields = more.fields ?? {}
    this.headers = more.headers ?? {}
  }

  toBody() {
    return { error: this.code, error_description: this.message, ...this.fields }
  }
}

/** What a refusal may say beside its table: another sentence, named fields, headers. */
export type Refused = { sentence?: string; fields?: Record<string, unknown>; headers?: Record<string, string> }

/** A sentence in the characters of RFC 6749 §5.2, whatever a caller has sent that it repeats. */
function plain(sentence: string): string {
  return sentence.replaceAll('"', "'").replaceAll(/[^\x20-\x5b\x5d-\x7e]/g, '?')
}

type Throwers<Table> = { [Code in keyof Table]: (more?: Refused) => Refusal }

/** A noun's refusals, written once: code, status, sentence. */
export function refusals<const Table extends Record<string, readonly [status: number, sentence: string]>>(
  table: Table,
): Throwers<Table>
export function refusals(table: Record<string, readonly [status: number, sentence: string]>) {
  const makers: Record<string, (more?: Refused) => Refusal> = {}
  for (const [code, [status, sentence]] of Object.entries(table)) {
    if (sentence !== plain(sentence)) throw new Error(`The sentence of ${code} has characters that no client may get`)
    makers[code] = (more = {}) => new Refusal(status, code, more.sentence ?? sentence, more)
  }
  return makers
}
