import { escapeHtml } from './built-pages.ts'

/** A JSON Schema of the OpenAPI document. */
export type Schema = Record<string, unknown>
export type Schemas = Record<string, Schema>

const reference = '#/components/schemas/'

/** Returns the fields of a schema as HTML. Named schemas in it are folded, each with its own fields. */
export function schemaHtml(schema: unknown, schemas: Schemas, around: readonly string[] = []): string {
  const { name, own } = resolve(schema, schemas)
  const inside = name === undefined ? around : [...around, name]
  if (name !== undefined && around.includes(name)) return `<p>See <code>${name}</code> above.</p>`
  const choices = choicesIn(own)
  if (choices.length > 0) return choices.map((choice) => foldedHtml(choice, schemas, inside)).join('')
  if (isSchema(own['properties'])) {
    const required = Array.isArray(own['required']) ? own['required'] : []
    const fields = Object.entries(own['properties']).map(([field, each]) =>
      fieldHtml({ name: field, schema: each, isRequired: required.includes(field) }, schemas, inside),
    )
    return `<ul class="fields">${fields.join('')}</ul>`
  }
  const items = own['items'] ?? own['additionalProperties']
  return isSchema(items) ? schemaHtml(items, schemas, inside) : ''
}

export type Field = { name: string; schema: unknown; isRequired: boolean }

/** Returns a parameter or a field: its name, type, limits and description, and the fields of its value. */
export function fieldHtml(
  { name, schema, isRequired }: Field,
  schemas: Schemas,
  around: readonly string[] = [],
): string {
  const { own } = resolve(schema, schemas)
  const description = typeof own['description'] === 'string' ? `<p>${escapeHtml(own['description'])}</p>` : ''
  const limits = limitsOf(itemsOf(own, schemas))
  return (
    `<li><div><code class="field">${escapeHtml(name)}</code> <span class="type">${typeOf(schema, schemas)}</span>` +
    (isRequired ? ' <span class="required">required</span>' : '') +
    `${own['writeOnly'] === true ? ' <span class="type">secret</span>' : ''}</div>` +
    `${description}${limits === '' ? '' : `<p class="limits">${limits}</p>`}` +
    `${foldedFields(schema, schemas, around)}</li>`
  )
}

function foldedFields(schema: unknown, schemas: Schemas, around: readonly string[]): string {
  const fields = schemaHtml(schema, schemas, around)
  if (fields === '') return ''
  return fields.startsWith('<p>') ? fields : `<details><summary>Fields</summary>${fields}</details>`
}

function foldedHtml(schema: unknown, schemas: Schemas, around: readonly string[]): string {
  const fields = schemaHtml(schema, schemas, around)
  const summary = typeOf(schema, schemas)
  return fields === '' ? `<p>${summary}</p>` : `<details><summary>${summary}</summary>${fields}</details>`
}

/** Returns the type of a value in words, such as `list of strings or null`. */
export function typeOf(schema: unknown, schemas: Schemas): string {
  const { name, own } = resolve(schema, schemas)
  const choices = choicesIn(own)
  if (choices.length > 0) return choices.map((choice) => typeOf(choice, schemas)).join(' or ')
  const { enum: words } = own
  if (Array.isArray(words) && words.length > 0)
    return words.map((word) => `<code>${escapeHtml(JSON.stringify(word))}</code>`).join(' or ')
  const types = [own['type']].flat().filter((type) => typeof type === 'string')
  const written = types.map((type) => {
    if (type === 'array') return `list of ${typeOf(own['items'], schemas)}`
    if (type === 'object' && name !== undefined) return `object <code>${name}</code>`
    if (type === 'object' && isSchema(own['additionalProperties'])) return 'object with values of any name'
    return type
  })
  const { format } = own
  return `${written.join(' or ') || 'any value'}${typeof format === 'string' ? ` (${escapeHtml(format)})` : ''}`
}

/** The limits of a list are those of its values too. */
function itemsOf(own: Schema, schemas: Schemas): Schema {
  const items = own['type'] === 'array' ? resolve(own['items'], schemas).own : {}
  return { ...items, ...own }
}

function limitsOf(schema: Schema): string {
  const value = (name: string) => {
    const { [name]: limit } = schema
    return typeof limit === 'string' || typeof limit === 'number' ? escapeHtml(String(limit)) : undefined
  }
  const between = (least: string, most: string, unit: string) => {
    const [from, to] = [value(least), value(most)]
    if (from === undefined && to === undefined) return []
    if (from !== undefined && to !== undefined) return [from === to ? `${from} ${unit}` : `${from} to ${to} ${unit}`]
    return [from === undefined ? `at most ${to} ${unit}` : `at least ${from} ${unit}`]
  }
  const pattern = value('pattern')
  return [
    ...between('minLength', 'maxLength', 'characters'),
    ...between('minimum', 'maximum', ''),
    ...between('minItems', 'maxItems', 'values'),
    ...(schema['uniqueItems'] === true ? ['no value twice'] : []),
    ...(pattern === undefined ? [] : [`matches <code>${pattern}</code>`]),
  ]
    .map((limit) => limit.trim())
    .join(' · ')
}

/** Follows a reference to a named schema. */
export function resolve(schema: unknown, schemas: Schemas): { name?: string; own: Schema } {
  if (!isSchema(schema)) return { own: {} }
  const { $ref: target } = schema
  if (typeof target !== 'string') return { own: schema }
  const name = target.slice(reference.length)
  const { own } = resolve(schemas[name], schemas)
  return { name, own }
}

export function choicesIn(schema: Schema): unknown[] {
  const found = schema['anyOf'] ?? schema['oneOf']
  return Array.isArray(found) ? found : []
}

export function isSchema(value: unknown): value is Schema {
  return typeof value === 'object' && value !== null && !Array.isArray(value)
}
