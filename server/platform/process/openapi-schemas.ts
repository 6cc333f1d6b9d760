/** JSON Schema as endpoints have it, in the dialect of OpenAPI 3.1 that generators of clients understand. */
type Schema = Record<string, unknown>

const reference = '#/components/schemas/'

/**
 * Collects the schemas of a document as components. A schema that `protocol/` exports is a component of that name; the
 * body and the answer of an operation become components as well, so that a generator gives each a type of its own.
 * Schemas are the same when their text is. Throws where two that differ would have one name.
 */
export function createComponents(exported: Record<string, unknown>) {
  const names = new Map<string, string>()
  const schemas: Record<string, Schema> = {}
  const texts = new Map<string, string>()
  const namedWords = new Set<unknown>()
  for (const [name, schema] of Object.entries(exported)) {
    if (!isNamed(schema) || names.has(JSON.stringify(schema))) continue
    // A generator for Go makes a constant of each word, without the name of its type: two types can't share a word.
    const words = choicesOf(schema)
    if (words.some((word) => namedWords.has(word))) continue
    for (const word of words) namedWords.add(word)
    names.set(JSON.stringify(schema), componentName(name))
  }

  function add(name: string, schema: Schema): Schema {
    const text = JSON.stringify(schema)
    if ((texts.get(name) ?? text) !== text) throw new Error(`Two schemas are called ${name}`)
    if (!texts.has(name)) {
      texts.set(name, text)
      schemas[name] = rewrite(schema)
    }
    return { $ref: reference + name }
  }

  /** A schema as it stands where it is used: a reference to its component, or itself. */
  function write(schema: unknown): Schema {
    if (!isSchema(schema)) return {}
    const name = names.get(JSON.stringify(schema))
    return name === undefined ? rewrite(schema) : add(name, schema)
  }

  function rewrite(schema: Schema): Schema {
    const { anyOf, const: constant, patternProperties, properties, items, ...rest } = schema
    if (Array.isArray(anyOf)) return { ...rest, ...unionOf(anyOf.map(write)) }
    if (constant !== undefined) return { ...rest, enum: [constant] }
    if (isSchema(properties)) return { ...rest, ...objectOf(properties, rest['required']) }
    if (isSchema(patternProperties))
      return { ...rest, additionalProperties: write(Object.values(patternProperties)[0] ?? {}) }
    if (items !== undefined) return { ...rest, items: write(items) }
    return rest
  }

  /** Without the spellings of our own that stand beside the standard ones: a type with both can't be generated. */
  function objectOf(properties: Schema, required: unknown): Schema {
    const kept = Object.entries(properties).filter(([name]) => !isLegacySpelling(name, properties))
    return {
      ...(Array.isArray(required) && required.length > 0 && { required }),
      properties: Object.fromEntries(kept.map(([name, each]) => [name, write(each)])),
    }
  }

  return {
    schemas,
    write,
    /** A schema of an operation: an object becomes a component of this name where it is none yet. */
    writeAs(name: string, schema: unknown): Schema {
      if (!isNamed(schema) || names.has(JSON.stringify(schema))) return write(schema)
      return add(name, schema)
    },
  }
}
export type Components = ReturnType<typeof createComponents>

/** `NewApp` as `AppInput`: in Go `NewApp` is the function that makes an `App`. */
function componentName(exported: string): string {
  return exported.replace(/^New(.+)$/, '$1Input')
}

/** Whether a generator makes a type of it: an object with fields, or a choice of words. */
function isNamed(schema: unknown): schema is Schema {
  if (!isSchema(schema)) return false
  if (isSchema(schema['properties'])) return true
  const { anyOf, enum: words } = schema
  return Array.isArray(words) || (Array.isArray(anyOf) && anyOf.every((each) => isSchema(each) && 'const' in each))
}

/** Words to choose from as `enum`, and "or null" as a second type: what most generators know of unions. */
function unionOf(kinds: Schema[]): Schema {
  const [only, ...others] = kinds.filter(({ type }) => type !== 'null')
  const isNullable = kinds.some(({ type }) => type === 'null')
  const words = kinds.flatMap(wordsOf)
  if (words.length > 0 && kinds.every((kind) => 'enum' in kind)) return { type: 'string', enum: words }
  if (!only || others.length > 0 || !isNullable || typeof only['type'] !== 'string') return { anyOf: kinds }
  return { ...only, type: [only['type'], 'null'], ...('enum' in only && { enum: [...wordsOf(only), null] }) }
}

/** The words that a schema of an own name lets choose from; none of an object. */
function choicesOf({ enum: words, anyOf }: Schema): unknown[] {
  if (Array.isArray(words)) return words
  return Array.isArray(anyOf) ? anyOf.flatMap((each) => (isSchema(each) ? [each['const']] : [])) : []
}

function wordsOf({ enum: words }: Schema): unknown[] {
  return Array.isArray(words) ? words : []
}

function isLegacySpelling(name: string, properties: Schema): boolean {
  const standard = name.replaceAll(/[A-Z]/g, (letter) => `_${letter.toLowerCase()}`)
  return standard !== name && standard in properties
}

function isSchema(value: unknown): value is Schema {
  return typeof value === 'object' && value !== null && !Array.isArray(value)
}
