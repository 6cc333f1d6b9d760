/** Why the service itself could not answer a request, as opposed to what the caller or a third party caused. */
export type Fault = 'server_error' | 'database_unavailable' | 'mail_unavailable' | 'overloaded'

/**
 * An error for the caller: an HTTP status, an API error code and a sentence. Any other thrown value is a fault of the
 * server. The sentence is limited to the characters of RFC 6749 §5.2, because OAuth clients receive it too.
 */
export class ApiError extends Error {
  readonly status: number
  readonly code: string
  readonly fields: Readonly<Record<string, unknown>>
  readonly headers: Readonly<Record<string, string>>
  readonly fault: Fault | undefined

  constructor(status: number, code: string, sentence: string, more: ApiErrorDetails = {}) {
    super(plain(sentence))
    this.status = status
    this.code = code
    this.fields = more.fields ?? {}
    this.headers = more.headers ?? {}
    this.fault = more.fault
  }

  toBody() {
    return { error: this.code, error_description: this.message, ...this.fields }
  }
}

/** Overrides of an error's table entry: another sentence, additional fields, headers. `fault` is for the metrics. */
export type ApiErrorDetails = {
  sentence?: string
  fields?: Record<string, unknown>
  headers?: Record<string, string>
  fault?: Fault
}

/** Replaces characters that RFC 6749 §5.2 does not allow, because the sentence may quote input. */
function plain(sentence: string): string {
  return sentence.replaceAll('"', "'").replaceAll(/[^\x20-\x5b\x5d-\x7e]/g, '?')
}

type Throwers<Table> = { [Code in keyof Table]: (more?: ApiErrorDetails) => ApiError }

/** Defines the errors of a module: code, status, sentence. */
export function defineErrors<const Table extends Record<string, readonly [status: number, sentence: string]>>(
  table: Table,
): Throwers<Table>
export function defineErrors(table: Record<string, readonly [status: number, sentence: string]>) {
  const makers: Record<string, (more?: ApiErrorDetails) => ApiError> = {}
  for (const [code, [status, sentence]] of Object.entries(table)) {
    if (sentence !== plain(sentence))
      throw new Error(`the sentence of ${code} has characters that RFC 6749 does not allow`)
    makers[code] = (more = {}) => new ApiError(status, code, more.sentence ?? sentence, more)
  }
  return makers
}
