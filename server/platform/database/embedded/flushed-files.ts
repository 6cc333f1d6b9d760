import { fsyncSync, readdirSync } from 'node:fs'
import { join } from 'node:path'
import { NodeFS } from '@electric-sql/pglite/nodefs'
import { canFlush, flushDirectory, flushFile } from '#platform/config/data-directory.ts'

type Initialization = Parameters<NodeFS['init']>

/** Settings with which PostgreSQL flushes at each commit and checkpoint. PGlite starts it with `fsync=off`. */
export const flushParameters = [
  ...['-c', 'fsync=on'],
  // The backend of PGlite passes on `fsync` only: its `fdatasync` succeeds without doing anything.
  ...['-c', canFlush ? 'wal_sync_method=fsync' : 'wal_sync_method=open_datasync'],
]

/** Numbers of the backend: errors (WASI), flags and modes of files (Emscripten). */
const errnos = { EINVAL: 28, EIO: 29 }
const flags = { writable: 0o3, O_DSYNC: 0o10000 }
const modes = { format: 0o170000, directory: 0o040000 }

/**
 * Files of an embedded database that reach the disk when PostgreSQL flushes them. Those of PGlite reach it when the
 * operating system writes them, after about half a minute.
 */
export class FlushedFiles extends NodeFS {
  override async init(...[database, options]: Initialization): ReturnType<NodeFS['init']> {
    const { emscriptenOpts } = await super.init(database, options)
    return { emscriptenOpts: { ...emscriptenOpts, preRun: [...(emscriptenOpts.preRun ?? []), addFlush] } }
  }
}

/** Adds the operation behind `fsync`, which is optional in Emscripten, to its file system of Node. */
function addFlush({ NODEFS: files }: { NODEFS: unknown }): void {
  if (!isFileSystem(files)) throw new Error('PGlite does not use the file system of Emscripten for Node')
  const { open } = files.stream_ops
  files.stream_ops.fsync = (file) => {
    try {
      if (canFlush) fsyncSync(file.nfd)
      else if ((file.node.mode & modes.format) === modes.directory) flushDirectory(files.realPath(file.node))
      return 0
    } catch (error) {
      // Windows flushes no directories. For directories, PostgreSQL accepts this number.
      const isDenied = error instanceof Error && 'code' in error && error.code === 'EPERM'
      return isDenied ? errnos.EINVAL : errnos.EIO
    }
  }
  if (canFlush) return
  files.stream_ops.open = (file) => {
    // Each write then waits for the disk, and for earlier changes of lengths and names in the same journal.
    if ((file.flags & flags.writable) !== 0) file.flags |= flags.O_DSYNC
    open(file)
  }
}

type OpenFile = { nfd: number; flags: number; node: { mode: number } }
type FileSystem = {
  realPath: (node: OpenFile['node']) => string
  stream_ops: { open: (file: OpenFile) => void; fsync?: (file: OpenFile) => number }
}

function isFileSystem(value: unknown): value is FileSystem {
  return isObject(value) && 'stream_ops' in value && isObject(value.stream_ops)
}

function isObject(value: unknown): value is object {
  return typeof value === 'object' && value !== null
}

/** Flushes all files and directories below a directory, as after a copy. */
export function flushTree(directory: string): void {
  for (const entry of readdirSync(directory, { recursive: true, withFileTypes: true })) {
    const path = join(entry.parentPath, entry.name)
    if (entry.isDirectory()) flushDirectory(path)
    else if (entry.isFile()) flushFile(path)
  }
  flushDirectory(directory)
}
