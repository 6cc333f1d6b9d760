import { execFileSync } from 'node:child_process'
import { randomBytes } from 'node:crypto'
import { mkdtempSync, rmdirSync, rmSync, statfsSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'

const sizeMegabytes = 192
const pieceBytesMax = 4 * 1024 * 1024

/** A small disk in memory that can be filled. Only root can mount it. */
export function openSmallDisk() {
  const directory = mkdtempSync(join(tmpdir(), 'countersign-disk-'))
  execFileSync('mount', ['-t', 'tmpfs', '-o', `size=${sizeMegabytes}m`, 'tmpfs', directory])
  const pieces: string[] = []
  const leftBytes = () => {
    const { bavail, bsize } = statfsSync(directory)
    return bavail * bsize
  }
  return {
    directory,
    /** Uses all of the space but this much. */
    takeAllBut(remainingBytes: number): void {
      for (let left = leftBytes(); left > remainingBytes; left = leftBytes()) {
        const piece = join(directory, `ballast-${pieces.length}`)
        pieces.push(piece)
        // Another process may write first: then no space is left either.
        if (!write(piece, Math.min(left - remainingBytes, pieceBytesMax))) return
      }
    },
    /** Frees the space again. */
    giveBack(): void {
      for (const piece of pieces.splice(0)) rmSync(piece)
    },
    close(): void {
      execFileSync('umount', [directory])
      rmdirSync(directory)
    },
  }
}

function write(path: string, bytes: number): boolean {
  try {
    writeFileSync(path, randomBytes(bytes))
    return true
  } catch (error) {
    if (error instanceof Error && 'code' in error && error.code === 'ENOSPC') return false
    throw error
  }
}
