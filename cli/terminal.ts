import { type ConfirmOptions, type TextOptions, confirm, isCancel, password, text } from '@clack/prompts'
import type { Settings } from './settings.ts'

/** An error with a message for the user of the command, printed without a stack. */
export class CliError extends Error {}

/** The user cancelled at a prompt. */
export class CancelledError extends Error {}

/** The data is consistent, but its keys are not trusted. The exit code tells scripts that it is not verified. */
export class Unproved extends CliError {}

/** Reads a value from another machine without trusting its shape. */
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

/** Checks if the command can prompt: not in a pipe, and not with JSON output. */
export function isInteractive({ json }: Settings): boolean {
  return process.stdin.isTTY && process.stdout.isTTY && !json
}

export async function promptText(options: TextOptions): Promise<string> {
  const answer = await text(options)
  if (isCancel(answer)) throw new CancelledError()
  return answer
}

export async function promptSecret(message: string): Promise<string> {
  const answer = await password({ message })
  if (isCancel(answer)) throw new CancelledError()
  return answer
}

export async function promptConfirmation(options: ConfirmOptions): Promise<boolean> {
  const answer = await confirm(options)
  if (isCancel(answer)) throw new CancelledError()
  return answer
}

export function printJson(value: unknown): void {
  console.log(JSON.stringify(value, null, 2))
}

/** Prints rows of cells, each column as wide as its widest cell. */
export function printTable(rows: string[][]): void {
  for (const line of formatTable(rows)) console.log(line)
}

export function formatTable(rows: string[][]): string[] {
  const shown = rows.map((row) => row.map(stripControlCharacters))
  const widths: number[] = []
  for (const row of shown)
    for (const [column, { length }] of row.entries()) widths[column] = Math.max(widths[column] ?? 0, length)
  return shown.map((row) => {
    const cells = row.map((cell, column) => cell.padEnd(widths[column] ?? 0))
    return cells.join('  ').trimEnd()
  })
}

const hidden = /\p{RGI_Emoji}|[\\\p{Z}\p{C}\p{Default_Ignorable_Code_Point}]/gv

/**
 * Writes characters that control the terminal, move others or cannot be seen, and spaces other than the usual one, as
 * `\u202e`, and a backslash as two. Emoji stay as they are.
 */
export function escapeHidden(words: string): string {
  return words.replaceAll(hidden, (found) => {
    if (found === '\\') return '\\\\'
    if (found === ' ' || /\p{RGI_Emoji}/v.test(found)) return found
    return found.replaceAll(/[^]/g, (unit) => `\\u${unit.charCodeAt(0).toString(16).padStart(4, '0')}`)
  })
}

/** Removes control characters, so that text of others cannot control the terminal. */
export function stripControlCharacters(words: string): string {
  return words.replaceAll(/\p{Cc}+/gu, ' ')
}
