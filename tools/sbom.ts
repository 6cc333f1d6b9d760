/**
 * `node tools/sbom.ts` prints what runs beside our own code, as CycloneDX: the packages that the image of deploy/
 * installs, out of the lock file. (`npm sbom --omit dev` leaves out whatever a development dependency needs as well.)
 */
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { Type, type Static } from 'typebox'
import { Value } from 'typebox/value'

const LockedPackage = Type.Object({
  version: Type.Optional(Type.String()),
  license: Type.Optional(Type.String()),
  integrity: Type.Optional(Type.String()),
  resolved: Type.Optional(Type.String()),
  link: Type.Optional(Type.Boolean()),
  hasInstallScript: Type.Optional(Type.Boolean()),
  dependencies: Type.Optional(Type.Record(Type.String(), Type.String())),
  optionalDependencies: Type.Optional(Type.Record(Type.String(), Type.String())),
})
const LockFile = Type.Object({ packages: Type.Record(Type.String(), LockedPackage) })
export type LockFile = Static<typeof LockFile>

/** The packages of ours that the image installs. */
const roots = ['server', 'cli']
const root = join(import.meta.dirname, '..')

export function readLockFile(path = join(root, 'package-lock.json')): LockFile {
  return Value.Parse(LockFile, JSON.parse(readFileSync(path, 'utf8')))
}

export type Component = { name: string; version: string; license: string; integrity: string; needs: string[] }

/** What server and cli need to run, and what that needs in turn; ours left out. By `name@version`, in order. */
export function componentsOf({ packages }: LockFile): Component[] {
  const found = new Map<string, Component>()
  const visited = new Set<string>()
  const visit = (place: string): string[] => {
    const { version = '', license = '', integrity = '', dependencies = {} } = packages[place] ?? {}
    const places = Object.keys(dependencies).map((name) => placeOf(packages, place, name))
    const name = place.slice(place.lastIndexOf('node_modules/') + 'node_modules/'.length)
    const own = isOurs(place) ? [] : [`${name}@${version}`]
    if (visited.has(place)) return own
    visited.add(place)
    const needs = places.flatMap(visit)
    if (!isOurs(place)) found.set(`${name}@${version}`, { name, version, license, integrity, needs: needs.toSorted() })
    return own
  }
  roots.forEach(visit)
  return [...found.values()].toSorted((a, b) => (a.name < b.name ? -1 : 1))
}

function isOurs(place: string): boolean {
  return !place.includes('node_modules/')
}

/** Where Node finds a package from that place: in its own folder, or in one further up. */
function placeOf(packages: LockFile['packages'], from: string, name: string): string {
  for (let folder = from; ; folder = folder.slice(0, Math.max(0, folder.lastIndexOf('/node_modules/')))) {
    const place = folder === '' ? `node_modules/${name}` : `${folder}/node_modules/${name}`
    const found = packages[place]
    if (found) return found.link ? (found.resolved ?? place) : place
    if (folder === '') throw new Error(`the lock file has no ${name}, which ${from} needs`)
  }
}

function billOf(components: Component[]): object {
  return {
    bomFormat: 'CycloneDX',
    specVersion: '1.6',
    version: 1,
    metadata: { component: { type: 'application', name: 'countersign', version: packageVersion() } },
    components: components.map(({ name, version, license, integrity }) => ({
      type: 'library',
      'bom-ref': `${name}@${version}`,
      name,
      version,
      purl: `pkg:npm/${name.replace('@', '%40')}@${version}`,
      licenses: [{ expression: license }],
      hashes: [{ alg: 'SHA-512', content: Buffer.from(integrity.replace('sha512-', ''), 'base64').toString('hex') }],
    })),
    dependencies: components.map(({ name, version, needs }) => ({ ref: `${name}@${version}`, dependsOn: needs })),
  }
}

function packageVersion(): string {
  return readLockFile().packages['']?.version ?? ''
}

if (import.meta.main) console.log(JSON.stringify(billOf(componentsOf(readLockFile())), null, 2))
