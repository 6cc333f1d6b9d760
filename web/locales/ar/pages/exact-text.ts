import type { exactTextMessages as english } from '../../en/pages/exact-text.ts'
import { counted } from '../format.ts'

/** Holds the messages for characters that may mislead in a text to sign. In Arabic. */
export const exactTextMessages: typeof english = {
  marked: 'يحتوي هذا النص على محارف قد تضللك:',
  oddities: {
    order: (times) =>
      counted(times, {
        one: 'سطر واحد باتجاهي القراءة كليهما. اقرأه بالاتجاه الموضّح.',
        two: 'سطران باتجاهي القراءة كليهما. اقرأهما بالاتجاه الموضّح.',
        few: '# أسطر باتجاهي القراءة كليهما. اقرأها بالاتجاه الموضّح.',
        many: '# سطرًا باتجاهي القراءة كليهما. اقرأها بالاتجاه الموضّح.',
        other: '# سطر باتجاهي القراءة كليهما. اقرأها بالاتجاه الموضّح.',
      }),
    direction: (times) =>
      counted(times, {
        one: 'محرف واحد لتغيير اتجاه النص',
        two: 'محرفان لتغيير اتجاه النص',
        few: '# محارف لتغيير اتجاه النص',
        many: '# محرفًا لتغيير اتجاه النص',
        other: '# محرف لتغيير اتجاه النص',
      }),
    invisible: (times) =>
      counted(times, {
        one: 'محرف واحد غير مرئي',
        two: 'محرفان غير مرئيين',
        few: '# محارف غير مرئية',
        many: '# محرفًا غير مرئي',
        other: '# محرف غير مرئي',
      }),
    tag: (times) =>
      counted(times, {
        one: 'محرف وسم مخفي واحد',
        two: 'محرفا وسم مخفيان',
        few: '# محارف وسم مخفية',
        many: '# محرف وسم مخفيًا',
        other: '# محرف وسم مخفي',
      }),
    variation: (times) =>
      counted(times, {
        one: 'محدِّد شكل واحد غير مرئي',
        two: 'محدِّدا شكل غير مرئيين',
        few: '# محدِّدات شكل غير مرئية',
        many: '# محدِّد شكل غير مرئي',
        other: '# محدِّد شكل غير مرئي',
      }),
    control: (times) =>
      counted(times, {
        one: 'محرف تحكم واحد',
        two: 'محرفا تحكم',
        few: '# محارف تحكم',
        many: '# محرف تحكم',
        other: '# محرف تحكم',
      }),
    unknown: (times) =>
      counted(times, {
        one: 'محرف واحد غير معيَّن',
        two: 'محرفان غير معيَّنين',
        few: '# محارف غير معيَّنة',
        many: '# محرفًا غير معيَّن',
        other: '# محرف غير معيَّن',
      }),
    combining: (times) =>
      counted(times, {
        one: 'موضع واحد فيه علامات متراكبة',
        two: 'موضعان فيهما علامات متراكبة',
        few: '# مواضع فيها علامات متراكبة',
        many: '# موضعًا فيها علامات متراكبة',
        other: '# موضع فيها علامات متراكبة',
      }),
    'look-alike': (times) =>
      counted(times, {
        one: 'محرف واحد يشبه غيره',
        two: 'محرفان يشبهان غيرهما',
        few: '# محارف تشبه غيرها',
        many: '# محرفًا يشبه غيره',
        other: '# محرف يشبه غيره',
      }),
  },

  scripts: {
    Latin: 'لاتيني',
    Cyrillic: 'سيريلي',
    Greek: 'يوناني',
    Armenian: 'أرمني',
    Cherokee: 'شيروكي',
    Coptic: 'قبطي',
    Lisu: 'ليسو',
    Hebrew: 'عبري',
    Arabic: 'عربي',
  },

  ways: {
    ltr: 'من اليسار إلى اليمين →',
    rtl: '← من اليمين إلى اليسار',
  },
}
