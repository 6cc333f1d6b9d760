/**
 * What this browser remembers to check the service by. Browsers that forbid storage remember nothing, and no page
 * depends on it.
 */
const databaseName = 'countersign-keys'

/** Memory of the user's keys, sealed; evidence of alarms; heads of the trails of organizations. */
const storeNames = ['memory', 'evidence', 'trails'] as const
type StoreName = (typeof storeNames)[number]

/** Grows with `storeNames`: a browser adds the stores that it lacks. */
const version = 2

/** Runs one request on a store; returns undefined if the browser forbids storage. */
export async function useDeviceStore(
  name: StoreName,
  mode: IDBTransactionMode,
  request: (store: IDBObjectStore) => IDBRequest,
): Promise<unknown> {
  try {
    const database = await open()
    try {
      return await resultOf(request(database.transaction(name, mode).objectStore(name)))
    } finally {
      database.close()
    }
  } catch (error) {
    if (error instanceof DOMException) return undefined
    throw error
  }
}

function open(): Promise<IDBDatabase> {
  const opening = indexedDB.open(databaseName, version)
  opening.addEventListener('upgradeneeded', () => {
    const { result } = opening
    for (const name of storeNames) if (!result.objectStoreNames.contains(name)) result.createObjectStore(name)
  })
  return resultOf(opening)
}

function resultOf<Result>(request: IDBRequest<Result>): Promise<Result> {
  return new Promise((resolve, reject) => {
    request.addEventListener('success', () => resolve(request.result))
    request.addEventListener('error', () => reject(request.error ?? new DOMException('The request failed')))
  })
}
