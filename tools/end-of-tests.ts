const works: (() => Promise<unknown>)[] = []

/** Registers work for the end of the process of a test: after the last test of all its files. */
export function atEndOfTests(work: () => Promise<unknown>): void {
  works.push(work)
}

/** Does the registered work. Rejects if any of it fails. */
export async function endTests(): Promise<void> {
  await Promise.all(works.map((work) => work()))
}
