/**
 * Why a response is rejected: it is not valid, it belongs to another request, or the provider denied the sign-in.
 * `because` is the detail, in snake case, or the status code of the provider.
 */
export type SamlRefusal = { kind: 'invalid' | 'mismatch' | 'denied'; because: string }

/** Carries a refusal to the function that returns it. */
export class SamlError extends Error {
  readonly refusal: SamlRefusal

  constructor(kind: SamlRefusal['kind'], because: string) {
    super(`${kind}: ${because}`)
    this.refusal = { kind, because }
  }
}

/** Creates the error for a response that is not valid. */
export function invalid(because: string): SamlError {
  return new SamlError('invalid', because)
}
