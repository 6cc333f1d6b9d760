/**
 * Stores the app key of the signed-in user in this browser. IndexedDB stores a CryptoKey that scripts can use, but whose
 * bytes they cannot read. On the disk, it is as safe as the disk.
 */
export async function keepKey(identityId, appKey) {
  await inStore((keys) => keys.put(appKey, identityId))
}

export async function readKey(identityId) {
  return inStore((keys) => keys.get(identityId))
}

export async function forgetKeys() {
  await inStore((keys) => keys.clear())
}

/** One transaction over the keys; answers what its request has found when it is done. */
async function inStore(act) {
  const database = await openDatabase()
  try {
    return await new Promise((resolve, reject) => {
      const transaction = database.transaction('keys', 'readwrite')
      const request = act(transaction.objectStore('keys'))
      transaction.addEventListener('complete', () => resolve(request.result))
      transaction.addEventListener('abort', () => reject(transaction.error))
    })
  } finally {
    database.close()
  }
}

function openDatabase() {
  return new Promise((resolve, reject) => {
    const request = indexedDB.open('notes', 1)
    request.addEventListener('upgradeneeded', () => request.result.createObjectStore('keys'))
    request.addEventListener('success', () => resolve(request.result))
    request.addEventListener('error', () => reject(request.error))
  })
}
