/** JSON Schema of endpoints, in the dialect of OpenAPI 3.1 that client generators understand. */
type Schema = Record<string, unknown>

const reference = '#/components/schemas/'

/**
 * Collects the schemas of a document as components. A schema that `protocol/` exports becomes a component of that name.
 * The body and the response of an operation become components too, so that a generator creates a type for each. Schemas
 * are equal if their text is. Throws if two different ones have the same name.
 */
export function createComponents(exported: Record<string, unknown>) {
  const names = new Map<string, string>()
  const schemas: Record<string, Schema> = {}
  const texts = new Map<string, string>()
  const namedWords = new Set<unknown>()
  for (const [name, schema] of Object.entries(exported)) {
    if (!isNamed(schema) || names.has(JSON.stringify(schema))) continue
    // A Go generator makes a constant of each word without the name of its type, so two types cannot share a word.
    const words = choicesOf(schema)
    if (words.some((word) => namedWords.has(word))) continue
    for (const word of words) namedWords.add(word)
    names.set(JSON.stringify(schema), componentName(name))
  }

  function add(name: string, schema: Schema): Schema {
    const text = JSON.stringify(schema)
    if ((texts.get(name) ?? text) !== text) throw new Error(`two schemas are named ${name}`)
    if (!texts.has(name)) {
      texts.set(name, text)
      schemas[name] = rewrite(schema)
    }
    return { $ref: reference + name }
  }

  /** Returns a schema for use in place: a reference to its component, or itself. */
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

  /** Leaves out legacy names of fields that have a standard name, because a type with both cannot be generated. */
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
    /** Writes a schema of an operation: an object becomes a component of this name unless it is one already. */
    writeAs(name: string, schema: unknown): Schema {
      if (!isNamed(schema) || names.has(JSON.stringify(schema))) return write(schema)
      return add(name, schema)
    },
  }
}
export type Components = ReturnType<typeof createComponents>

/** Renames `NewApp` to `AppInput`: in Go `NewApp` is the constructor of `App`. */
function componentName(exported: string): string {
  return exported.replace(/^New(.+)$/, '$1Input')
}

/** Checks whether generators create a type for a schema: an object with fields, or a choice of words. */
function isNamed(schema: unknown): schema is Schema {
  if (!isSchema(schema)) return false
  if (isSchema(schema['properties'])) return true
  const { anyOf, enum: words } = schema
  return Array.isArray(words) || (Array.isArray(anyOf) && anyOf.every((each) => isSchema(each) && 'const' in each))
}

/** Writes a choice of words as `enum` and "or null" as a second type, which most generators support. */
function unionOf(kinds: Schema[]): Schema {
  const [only, ...others] = kinds.filter(({ type }) => type !== 'null')
  const isNullable = kinds.some(({ type }) => type === 'null')
  const words = kinds.flatMap(wordsOf)
  if (words.length > 0 && kinds.every((kind) => 'enum' in kind)) return { type: 'string', enum: words }
  if (!only || others.length > 0 || !isNullable || typeof only['type'] !== 'string') return { anyOf: kinds }
  return { ...only, type: [only['type'], 'null'], ...('enum' in only && { enum: [...wordsOf(only), null] }) }
}

/** Returns the words of a named choice, or none for an object. */
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
