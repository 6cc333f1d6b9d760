import { execFileSync } from 'node:child_process'
import { mkdirSync, mkdtempSync, renameSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'

const size = '384M'
/** The kernel writes by itself what is older: the journal after `commit` seconds, data after half a minute. */
const options = 'loop,commit=300'

/**
 * A disk whose power can be cut: an ext4 file system in a file. The file contains what the kernel has written to the
 * disk, and not what waits in its memory. Only root can mount it.
 */
export function openPoweredDisk() {
  const folder = mkdtempSync(join(tmpdir(), 'countersign-disk-'))
  const image = join(folder, 'image')
  const directory = join(folder, 'mounted')
  mkdirSync(directory)
  run('truncate', '--size', size, image)
  run('mkfs.ext4', '-q', image)
  const mount = () => run('mount', '-o', options, image, directory)
  mount()
  return {
    directory,
    /** Loses everything that is not on the disk, and mounts it again. No process may use it any more. */
    cutPower(): void {
      const left = join(folder, 'left')
      run('cp', '--sparse=always', image, left)
      run('umount', directory)
      renameSync(left, image)
      mount()
    },
    close(): void {
      // After a failure, a process may still use it.
      run('umount', '--lazy', directory)
      rmSync(folder, { recursive: true })
    },
  }
}

function run(program: string, ...rest: string[]): void {
  execFileSync(program, rest, { stdio: ['ignore', 'ignore', 'inherit'] })
}
