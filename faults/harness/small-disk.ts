import { execFileSync } from 'node:child_process'
import { randomBytes } from 'node:crypto'
import { mkdtempSync, rmdirSync, rmSync, statfsSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'

const sizeMegabytes = 192
const pieceBytesMax = 4 * 1024 * 1024

/** A disk of its own, in memory, that can be filled. Only root may mount it. */
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
    /** Takes all the space but this much. */
    takeAllBut(leavingBytes: number): void {
      for (let left = leftBytes(); left > leavingBytes; left = leftBytes()) {
        const piece = join(directory, `ballast-${pieces.length}`)
        pieces.push(piece)
        // Somebody else may be writing and be first: then there is nothing left either.
        if (!write(piece, Math.min(left - leavingBytes, pieceBytesMax))) return
      }
    },
    /** Gives back what was taken. */
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
