import { ApiError } from './call.ts'

/**
 * Returns a handler that throws an error again. One whose code has a sentence here says that, instead of the texts that
 * every page loads.
 */
export function explainedBy(sentences: Record<string, string>): (error: unknown) => never {
  return (error) => {
    const sentence = error instanceof ApiError ? sentences[error.code] : undefined
    if (!(error instanceof ApiError) || sentence === undefined) throw error
    throw new ApiError(error.status, error.code, sentence, error.fields)
  }
}
