/** What another machine sent, read without trusting its shape. */
export function fieldsOf(value: unknown): Record<string, unknown> {
  return isRecord(value) ? value : {}
}

export function listOf(value: unknown): unknown[] {
  return Array.isArray(value) ? value : []
}

export function textOf(value: unknown): string {
  return typeof value === 'string' ? value : ''
}

function isRecord(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null
}
