/**
 * Builds the image of deploy/Dockerfile as folders of this machine: the files that its stages copy and create, without
 * a container engine. It supports the instructions that the file uses, and throws for any other.
 */
import { execFile } from 'node:child_process'
import { cp, mkdir, readFile } from 'node:fs/promises'
import { basename, delimiter, dirname, join, matchesGlob, relative } from 'node:path'
import { promisify } from 'node:util'

/** The result of the last stage: its file system as a folder, and how it is run. */
export type Image = BuildState & {
  command: string[]
  healthCheck: string[]
  user: string
  ports: string[]
  volumes: string[]
}

type BuildState = { folder: string; workingDirectory: string; environment: Record<string, string> }
type Instruction = { word: string; rest: string }

const run = promisify(execFile)
const repository = join(import.meta.dirname, '..')

/** Parses `deploy/Dockerfile` into instructions; lines that end with a backslash are joined. */
export async function readDockerfile(): Promise<Instruction[]> {
  const text = await readFile(join(repository, 'deploy/Dockerfile'), 'utf8')
  const lines = text
    .replaceAll(/^#.*\n/gm, '')
    .replaceAll(/\\\n\s*/g, '')
    .split('\n')
  return lines.filter(Boolean).map((line) => {
    const [, word = '', rest = ''] = /^([A-Z]+) (.+)$/.exec(line) ?? []
    return { word, rest }
  })
}

/** Builds every stage in a folder of its own under `directory` from the files in git, and returns the last one. */
export async function buildImage(directory: string): Promise<Image> {
  const context = await makeContext(join(directory, 'context'))
  const stages = new Map<string, Image>()
  let image = startStage(directory, 'none')
  for (const { word, rest } of await readDockerfile()) {
    if (word === 'FROM') {
      const name = / AS (\w+)$/.exec(rest)?.[1] ?? 'last'
      image = startStage(directory, name)
      stages.set(name, image)
    } else await follow(image, { word, rest }, (stage) => (stage ? stages.get(stage)?.folder : context))
  }
  return image
}

function startStage(directory: string, name: string): Image {
  const folder = join(directory, name)
  const stage = { folder, workingDirectory: folder, environment: {} }
  return { ...stage, command: [], healthCheck: [], user: 'root', ports: [], volumes: [] }
}

/** Applies an instruction to a stage. */
async function follow(image: Image, { word, rest }: Instruction, sourceOf: SourceOf): Promise<void> {
  const does: Record<string, () => unknown> = {
    WORKDIR: async () => {
      image.workingDirectory = join(image.folder, rest)
      await mkdir(image.workingDirectory, { recursive: true })
    },
    COPY: () => copy(image, rest, sourceOf),
    RUN: () => runInStage(image, rest),
    ENV: () => {
      const [name = '', value = ''] = rest.split('=')
      image.environment[name] = value
    },
    USER: () => (image.user = rest),
    VOLUME: () => image.volumes.push(rest),
    EXPOSE: () => image.ports.push(...rest.split(' ')),
    HEALTHCHECK: () => (image.healthCheck = wordsOf(rest.replace(/^.*CMD /, ''))),
    CMD: () => (image.command = wordsOf(rest)),
  }
  const apply = does[word]
  if (!apply) throw new Error(`tools/image.ts does not support the instruction ${word}`)
  await apply()
}

/** Returns the source of `COPY`: another stage by its name, or the context. */
type SourceOf = (stage: string | undefined) => string | undefined

async function copy({ folder, workingDirectory }: BuildState, rest: string, sourceOf: SourceOf): Promise<void> {
  const words = rest.split(' ')
  const stage = words.find((word) => word.startsWith('--from='))?.slice('--from='.length)
  const source = sourceOf(stage)
  if (source === undefined) throw new Error(`deploy/Dockerfile copies from ${stage}, which is no earlier stage`)
  const paths = words.filter((word) => !word.startsWith('--'))
  const target = paths.pop() ?? ''
  const into = target.startsWith('/') ? join(folder, target) : join(workingDirectory, target)
  const several = paths.length > 1
  for (const path of paths)
    await cp(join(source, path), several ? join(into, basename(path)) : into, {
      recursive: true,
      verbatimSymlinks: true,
    })
}

/** npm's access to its registry. The other variables of an npm script concern the repository, and are omitted. */
const reachesRegistry =
  /^(home|npm_config_(registry|cache|cafile|(https_|no)?proxy)|(https?|no)_proxy|node_extra_ca_certs)$/i

/** Runs a command of a stage. This machine's npm and Node stand in for those of the base image. */
async function runInStage({ workingDirectory }: BuildState, command: string): Promise<void> {
  const passed = Object.entries(process.env).filter(([name]) => reachesRegistry.test(name))
  const path = [dirname(process.execPath), process.env.PATH].join(delimiter)
  const env = { ...Object.fromEntries(passed), PATH: path, npm_config_prefer_offline: 'true' }
  await run('sh', ['-c', command], { cwd: workingDirectory, env })
}

/** Returns the build context: the repository without what `.dockerignore` names. */
async function makeContext(folder: string): Promise<string> {
  const lines = (await readFile(join(repository, '.dockerignore'), 'utf8')).split('\n')
  const ignored = lines.filter((line) => line !== '' && !line.startsWith('#'))
  const filter = (path: string) => !ignored.some((glob) => matchesGlob(relative(repository, path), glob))
  await cp(repository, folder, { recursive: true, verbatimSymlinks: true, filter })
  return folder
}

/** `["node", "server/main.ts"]`: without a shell between the engine and the process. */
function wordsOf(json: string): string[] {
  const words: unknown = JSON.parse(json)
  if (!Array.isArray(words))
    throw new Error(`deploy/Dockerfile runs ${json} in a shell, which would not pass signals on`)
  return words.map(String)
}
