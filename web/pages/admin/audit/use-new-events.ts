import { useEffect, useRef, useState } from 'preact/hooks'
import { ApiError, NetworkError } from '../../../lib/api/call.ts'
import { followAs } from '../../../lib/api/follow.ts'
import { useOperator } from '../acting/operator.ts'
import type { StreamFilter } from './filter.ts'

/** Numbers above are not shown. */
export const newEventsMax = 99
const pauseMilliseconds = 5000
const pauseMillisecondsMax = 60_000

type Input = {
  /** Which events count, or undefined as long as no list is shown. */
  filter: StreamFilter | undefined
  /** Place of the newest event in the list. */
  newest: number
  /** Called when events may have been recorded between the reading of the list and the beginning of the stream. */
  onMissed: () => void
}

export type NewEvents = {
  /** How many events are newer than the list, one above the maximum at most. */
  count: number
  isFollowing: boolean
}

/** Follows the audit log while a list of it is shown. */
export function useNewEvents({ filter, newest, onMissed }: Input): NewEvents {
  const { operator } = useOperator()
  const [places, setPlaces] = useState<number[]>([])
  const [isFollowing, setFollowing] = useState(false)
  const latest = useRef({ newest, onMissed })
  latest.current = { newest, onMissed }
  useEffect(() => {
    setPlaces([])
    if (!filter) return undefined
    const leaving = new AbortController()
    void follow(operator.identityId, filter, {
      signal: leaving.signal,
      onState: setFollowing,
      onBegin: (start) => start !== latest.current.newest && latest.current.onMissed(),
      onEvent: (place) => setPlaces((before) => [...before, place].slice(-newEventsMax - 1)),
    })
    return () => leaving.abort()
  }, [filter])
  return { count: places.filter((place) => place > newest).length, isFollowing }
}

type Listener = {
  signal: AbortSignal
  onState: (isFollowing: boolean) => void
  /** Called at the beginning of the first stream, with the place after which it begins. */
  onBegin: (start: number) => void
  onEvent: (place: number) => void
}

/** Follows the log until the signal aborts or the service refuses it. A lost connection is opened again. */
async function follow(identityId: string, filter: StreamFilter, listener: Listener): Promise<void> {
  const { signal, onState } = listener
  const state: FollowState = { place: undefined, pause: pauseMilliseconds }
  while (!signal.aborted) {
    const isRefused = await followOnce(identityId, filter, listener, state).then(() => false, isFinal)
    if (signal.aborted) return
    onState(false)
    // The list itself says what the operator may not read.
    if (isRefused) return
    await passed(state.pause, signal)
    state.pause = Math.min(2 * state.pause, pauseMillisecondsMax)
  }
}

type FollowState = { place: string | undefined; pause: number }

async function followOnce(
  identityId: string,
  filter: StreamFilter,
  { signal, onState, onBegin, onEvent }: Listener,
  state: FollowState,
): Promise<void> {
  const querystring = { ...filter, ...(state.place !== undefined && { after: state.place }) }
  const given = { querystring, headers: {} }
  for await (const { id, data } of followAs(identityId, 'GET /api/admin/audit/stream', given, signal)) {
    if (state.place === undefined && id !== undefined) onBegin(Number(id))
    if (data !== undefined) onEvent(Number(id))
    onState(true)
    state.place = id ?? state.place
    state.pause = pauseMilliseconds
  }
}

/** Tells whether a later attempt would fail in the same way. */
function isFinal(error: unknown): boolean {
  if (error instanceof NetworkError) return false
  return !(error instanceof ApiError) || (error.status < 500 && error.status !== 429)
}

function passed(milliseconds: number, signal: AbortSignal): Promise<void> {
  return new Promise((resolve) => {
    if (signal.aborted) return resolve()
    const timer = setTimeout(resolve, milliseconds)
    signal.addEventListener('abort', () => {
      clearTimeout(timer)
      resolve()
    })
  })
}
