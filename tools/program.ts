import { accessSync, constants, globSync } from 'node:fs'
import { delimiter, join } from 'node:path'

/** Finds every program of that name on this machine: first those in PATH, then those in the further folders (globs). */
export function findPrograms(name: string, furtherFolders: string[] = []): string[] {
  const folders = (process.env.PATH ?? '').split(delimiter).filter((folder) => folder !== '')
  return [...folders, ...globSync(furtherFolders)].map((folder) => join(folder, name)).filter(isExecutable)
}

function isExecutable(path: string): boolean {
  try {
    accessSync(path, constants.X_OK)
    return true
  } catch {
    return false
  }
}
