import type { Static, TSchema } from 'typebox'
import { Check, Errors } from 'typebox/schema'

/**
 * Returns a value that a schema describes, such as one that the service has stored. Throws for any other: it is a fault
 * of the service, not an input of a caller.
 */
export function parse<const Schema extends TSchema>(schema: Schema, value: unknown): Static<Schema> {
  if (Check(schema, value)) return value
  const [, [first]] = Errors(schema, value)
  throw new TypeError(`The value does not match its schema: ${first?.instancePath} ${first?.message}`)
}
