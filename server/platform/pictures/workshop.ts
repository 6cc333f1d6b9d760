import { Worker } from 'node:worker_threads'
import type { PictureToRender, WorkshopResult, WorkshopTask } from './codec/workshop-thread.ts'

/** Sides of the squares that are stored of each picture, in pixels. */
export const pictureSizes = [64, 256, 512] as const
export type PictureSize = (typeof pictureSizes)[number]

/** A picture as WebP, by the side of the square. */
export type RenderedPicture = Record<PictureSize, Uint8Array>

/** Reason why a picture was not rendered: what its decoder says, that it took too long, or that too many wait. */
export class RenderFailure extends Error {
  override readonly name = 'RenderFailure'
  /** True if the same picture may be rendered later: the processor has other work. */
  readonly isOverload: boolean

  constructor(reason: string, isOverload = false) {
    super(reason)
    this.isOverload = isOverload
  }
}

export type Workshop = {
  /** Starts the thread now, for a process that gives up the permission to start threads. */
  start: () => void
  /**
   * Renders a picture as squares, one picture at a time. `owner` is the user or operator who waits for it: the one who
   * has used the least time is next. Throws `RenderFailure`.
   */
  render: (owner: string, picture: PictureToRender) => Promise<RenderedPicture>
}

/** Time for a picture. The largest takes about a second on an idle processor. */
const renderMilliseconds = 8000
const waitingMax = 32
/** Of one owner, who may have given up the requests of earlier ones. */
const waitingOfOwnerMax = 4

type Waiting = { owner: string; begin: () => Promise<void> }

/** Creates the place where a process has pictures decoded: in threads of their own, never in its own. */
export function createWorkshop(milliseconds = renderMilliseconds): Workshop {
  let thread: Worker | undefined
  let isBusy = false
  const waiting: Waiting[] = []
  /** Time that each owner has used since nothing waited. */
  const used = new Map<string, number>()

  const start = (): Worker => {
    if (thread) return thread
    const started = new Worker(new URL('./codec/workshop-thread.ts', import.meta.url), { env: {} })
    // One that has ended answers nothing. The next picture starts another, or fails where the process may not.
    started.once('exit', () => (thread = undefined))
    // An idle thread does not keep the process from ending.
    started.unref()
    thread = started
    return started
  }

  async function renderNow(picture: PictureToRender): Promise<RenderedPicture> {
    const started = start()
    started.ref()
    const task: WorkshopTask = { picture, sizes: pictureSizes, milliseconds }
    const result = await ask(started, task).finally(() => started.unref())
    if ('failure' in result) throw new RenderFailure(result.failure, result.isLate)
    const [small, medium, large] = result.rendered
    if (!small || !medium || !large) throw new Error('the workshop has not returned all sizes')
    return { 64: small, 256: medium, 512: large }
  }

  async function work(): Promise<void> {
    if (isBusy) return
    isBusy = true
    for (let next = takeNext(waiting, used); next; next = takeNext(waiting, used)) {
      const begun = performance.now()
      await next.begin()
      used.set(next.owner, (used.get(next.owner) ?? 0) + performance.now() - begun)
    }
    isBusy = false
    used.clear()
  }

  return {
    start: () => void start(),
    render(owner, picture) {
      const own = waiting.filter((each) => each.owner === owner)
      if (waiting.length >= waitingMax || own.length >= waitingOfOwnerMax)
        return Promise.reject(new RenderFailure('too many pictures wait', true))
      return new Promise((resolve, reject) => {
        waiting.push({ owner, begin: () => renderNow(picture).then(resolve, reject) })
        void work()
      })
    },
  }
}

/** Takes what waits for the owner who has used the least time, the oldest first. */
function takeNext(waiting: Waiting[], used: Map<string, number>): Waiting | undefined {
  const least = Math.min(...waiting.map(({ owner }) => used.get(owner) ?? 0))
  const at = waiting.findIndex(({ owner }) => (used.get(owner) ?? 0) === least)
  return at === -1 ? undefined : waiting.splice(at, 1)[0]
}

/** Sends the thread a task and waits for its result. Throws if the thread ends. */
function ask(thread: Worker, task: WorkshopTask): Promise<WorkshopResult> {
  return new Promise((resolve, reject) => {
    const ended = (reason: unknown) => {
      thread.off('message', answered)
      reject(reason instanceof Error ? reason : new Error(`the thread for pictures has ended (${String(reason)})`))
    }
    const answered = (result: WorkshopResult) => {
      thread.off('exit', ended).off('error', ended)
      resolve(result)
    }
    thread.once('message', answered).once('exit', ended).once('error', ended)
    // oxlint-disable-next-line unicorn/require-post-message-target-origin -- A thread has no origin.
    thread.postMessage(task)
  })
}
