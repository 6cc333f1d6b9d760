import { AsyncLocalStorage } from 'node:async_hooks'

/** Where a request comes from. */
export type RequestOrigin = {
  requestId: string
  /** Network of the source address: a /24 of IPv4 or a /48 of IPv6. Null if the address is unknown. */
  network: string | null
}

/** Place of a request among those in progress. */
export type Place = {
  readonly origin: RequestOrigin
  /** Releases the place until the request returns. */
  leave: () => void
  comeBack: () => void
}

// One store for all that a request carries: each further one would copy the others for each request.
const places = new AsyncLocalStorage<Place>()

/** Runs a request in its place. While it waits by `whileIdle`, other requests can use the place. */
export function runAt(place: Place, run: () => void): void {
  if (places.getStore() === place) run()
  else places.run(place, run)
}

/** Returns the place of the present request. Returns undefined outside a request. */
export function currentPlace(): Place | undefined {
  return places.getStore()
}

/** Returns where the present request comes from. Returns undefined outside a request. */
export function currentOrigin(): RequestOrigin | undefined {
  return currentPlace()?.origin
}
