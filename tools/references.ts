/** Returns a part of an OpenAPI document with each reference resolved. No schema refers to itself. */
export function inlineReferences(document: unknown, part: unknown): unknown {
  if (Array.isArray(part)) return part.map((each) => inlineReferences(document, each))
  if (!isRecord(part)) return part
  const { $ref: reference } = part
  if (typeof reference === 'string') return inlineReferences(document, at(document, ...reference.split('/').slice(1)))
  return Object.fromEntries(Object.entries(part).map(([key, each]) => [key, inlineReferences(document, each)]))
}

/** Returns the value at a path of a document, or undefined. */
export function at(value: unknown, ...path: string[]): unknown {
  return path.reduce<unknown>((inside, key) => (isRecord(inside) ? inside[key] : undefined), value)
}

export function isRecord(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null
}
