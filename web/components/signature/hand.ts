/**
 * Loads the typeface in which names are signed, so that a name does not change while it is read. Without it, names are
 * shown in another typeface.
 */
export async function loadHand(): Promise<void> {
  await Promise.race([document.fonts.load("italic 400 2rem 'Newsreader Display'").catch(reportError), soon()])
}

const patienceMilliseconds = 1000

/** A slow typeface must not keep anyone from reading. */
function soon(): Promise<void> {
  return new Promise((resolve) => {
    setTimeout(resolve, patienceMilliseconds)
  })
}
