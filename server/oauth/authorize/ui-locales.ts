/** As much of BCP 47 as a hint needs. */
const languageTag = /^[A-Za-z0-9-]{2,35}$/
const languagesMax = 10

/** The languages in which an app wants the pages, the first the dearest; what is none of them is passed over. */
export function readLanguages(uiLocales = ''): string[] {
  return uiLocales
    .split(' ')
    .filter((tag) => languageTag.test(tag))
    .slice(0, languagesMax)
}
