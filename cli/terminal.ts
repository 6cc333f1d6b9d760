import { confirm, isCancel, password, text, type ConfirmOptions, type TextOptions } from '@clack/prompts'
import { Cancelled } from './failure.ts'
import type { Settings } from './settings.ts'

/** Whether there is a person to ask: not in a pipe, not in a script that wants JSON. */
export function mayAsk({ json }: Settings): boolean {
  return process.stdin.isTTY && process.stdout.isTTY && !json
}

export async function askText(options: TextOptions): Promise<string> {
  const answer = await text(options)
  if (isCancel(answer)) throw new Cancelled()
  return answer
}

export async function askSecret(message: string): Promise<string> {
  const answer = await password({ message })
  if (isCancel(answer)) throw new Cancelled()
  return answer
}

export async function askConfirmation(options: ConfirmOptions): Promise<boolean> {
  const answer = await confirm(options)
  if (isCancel(answer)) throw new Cancelled()
  return answer
}

export function printJson(value: unknown): void {
  console.log(JSON.stringify(value, null, 2))
}

/** Rows of cells, each column as wide as its widest cell. */
export function printTable(rows: string[][]): void {
  const shown = rows.map((row) => row.map(withoutControls))
  const widths = shown[0]?.map((_, column) => Math.max(...shown.map((row) => row[column]?.length ?? 0))) ?? []
  for (const row of shown)
    console.log(
      row
        .map((cell, column) => cell.padEnd(widths[column] ?? 0))
        .join('  ')
        .trimEnd(),
    )
}

/** What others wrote must not steer the terminal. */
export function withoutControls(words: string): string {
  return words.replaceAll(/\p{Cc}+/gu, ' ')
}
