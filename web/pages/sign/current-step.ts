import { type Event, type Step, isSameShown, nextStep } from './steps.ts'

/**
 * Creates the current step of a page. It tells work that awaits something whether the page still shows what the user
 * has decided on, and whether what was read is the newest.
 */
export function createCurrentStep({ framed }: { framed: boolean }) {
  let step: Step = { at: 'look' }
  // Increases whenever the page shows something else to decide on, also if it shows the same again later.
  let shown = 0
  let reads = 0
  let newestRead = Promise.resolve()
  let isSending = false
  return {
    get: (): Step => step,
    /** Goes to the step after an event, and returns the steps before and after. */
    advance(event: Event): { before: Step; next: Step } {
      const before = step
      step = nextStep(before, event, { framed })
      if (!isSameShown(before, step)) shown += 1
      return { before, next: step }
    },
    /** Returns a check whether the page has shown the same decision since this call. */
    watch(): () => boolean {
      const atFirst = shown
      return () => shown === atFirst
    },
    /**
     * Reads the request, and awaits any newer read too. `work` gets a check if its result is used: not after a newer
     * read has started, or if an answer was sent meanwhile, because it may be older than the answer.
     */
    async read(work: (isUsed: () => boolean) => Promise<void>): Promise<void> {
      reads += 1
      const own = reads
      let awaited = (newestRead = work(() => own === reads && !isSending))
      await awaited
      while (newestRead !== awaited) {
        awaited = newestRead
        await awaited
      }
    },
    /** Sends an answer. Until the service has replied, the page keeps showing what was sent. */
    async send<T>(work: () => Promise<T>): Promise<T> {
      isSending = true
      try {
        return await work()
      } finally {
        isSending = false
        reads += 1
      }
    },
  }
}
export type CurrentStep = ReturnType<typeof createCurrentStep>
