import Negotiator from "negotiator";

/** What the install page says in one language. */
export interface InstallWords {
  title: string;
  lead: string;
  apple: string;
  android: string;
  /** Below the buttons: what to do when they open nothing. */
  otherwise: string;
  scan: string;
  scanHow: string;
  qrAlt: string;
  type: string;
  typeHow: string;
  smdpAddress: string;
  activationCode: string;
  confirmationCode: string;
  wholeCode: string;
  expired: string;
  suspended: string;
  test: string;
  /** The words beside the facts of the plan and its seller. */
  seller: string;
  support: string;
  data: string;
  validity: string;
  coverage: string;
  /** Behind the first countries of many; {n} is how many more there are. */
  more: string;
  /** The words of the page that a wrong link leads to. */
  wrongTitle: string;
  wrong: string;
}

/** The languages of the install page, by their tag in HTML; the first is for everybody else. */
export const installWords = {
  en: {
    title: "Install your eSIM",
    lead: "Connect to Wi-Fi first. An eSIM can be installed only once: do not delete it from your phone afterwards.",
    apple: "Install on iPhone or iPad",
    android: "Install on Android",
    otherwise: "For iOS 17.4 or later and recent Android phones. If nothing opens, scan or type the code below.",
    scan: "Scan the code",
    scanHow: "Open this page on another screen. On your phone, add an eSIM in the mobile network settings and scan:",
    qrAlt: "QR code of the eSIM",
    type: "Or type it in",
    typeHow: "In the same place, choose to enter the details manually.",
    smdpAddress: "SM-DP+ address",
    activationCode: "Activation code",
    confirmationCode: "Confirmation code",
    wholeCode: "All in one line, if your phone asks for it",
    expired: "This eSIM has expired and can no longer be used.",
    suspended: "This eSIM is suspended. Please ask the shop where you bought it.",
    test: "This is a test eSIM. No phone can install it.",
    seller: "Sold by",
    support: "Help",
    data: "Data",
    validity: "Valid for",
    coverage: "Works in",
    more: "and {n} more",
    wrongTitle: "This link does not work",
    wrong:
      "The address is incomplete, or the eSIM is not ready yet. Open the link from your message again, or " +
      "copy all of it. If that does not help, ask the shop where you bought the eSIM.",
  },
  de: {
    title: "eSIM installieren",
    lead:
      "Verbinden Sie sich zuerst mit einem WLAN. Eine eSIM lässt sich nur einmal installieren: " +
      "Löschen Sie sie danach nicht vom Gerät.",
    apple: "Auf iPhone oder iPad installieren",
    android: "Auf Android installieren",
    otherwise:
      "Ab iOS 17.4 und auf neueren Android-Geräten. Öffnet sich nichts, scannen Sie den Code unten " +
      "oder geben Sie ihn ein.",
    scan: "Code scannen",
    scanHow:
      "Öffnen Sie diese Seite auf einem anderen Bildschirm. Fügen Sie am Telefon in den " +
      "Mobilfunkeinstellungen eine eSIM hinzu und scannen Sie:",
    qrAlt: "QR-Code der eSIM",
    type: "Oder von Hand eingeben",
    typeHow: "Wählen Sie an derselben Stelle die manuelle Eingabe.",
    smdpAddress: "SM-DP+-Adresse",
    activationCode: "Aktivierungscode",
    confirmationCode: "Bestätigungscode",
    wholeCode: "Alles in einer Zeile, falls Ihr Telefon danach fragt",
    expired: "Diese eSIM ist abgelaufen und nicht mehr nutzbar.",
    suspended: "Diese eSIM ist gesperrt. Bitte wenden Sie sich an den Händler.",
    test: "Dies ist eine Test-eSIM. Kein Telefon kann sie installieren.",
    seller: "Verkauft von",
    support: "Hilfe",
    data: "Datenvolumen",
    validity: "Gültig",
    coverage: "Nutzbar in",
    more: "und {n} weitere",
    wrongTitle: "Dieser Link funktioniert nicht",
    wrong:
      "Die Adresse ist unvollständig, oder die eSIM ist noch nicht bereit. Öffnen Sie den Link aus Ihrer " +
      "Nachricht noch einmal, oder kopieren Sie ihn ganz. Hilft das nicht, fragen Sie den Händler.",
  },
  fr: {
    title: "Installer votre eSIM",
    lead:
      "Connectez-vous d’abord au Wi-Fi. Une eSIM ne s’installe qu’une seule fois : ne la supprimez " +
      "pas ensuite de votre téléphone.",
    apple: "Installer sur iPhone ou iPad",
    android: "Installer sur Android",
    otherwise:
      "À partir d’iOS 17.4 et sur les Android récents. Si rien ne s’ouvre, scannez ou saisissez le code ci-dessous.",
    scan: "Scanner le code",
    scanHow:
      "Ouvrez cette page sur un autre écran. Sur le téléphone, ajoutez une eSIM dans les réglages du " +
      "réseau mobile et scannez :",
    qrAlt: "Code QR de l’eSIM",
    type: "Ou le saisir à la main",
    typeHow: "Au même endroit, choisissez la saisie manuelle.",
    smdpAddress: "Adresse SM-DP+",
    activationCode: "Code d’activation",
    confirmationCode: "Code de confirmation",
    wholeCode: "Tout sur une ligne, si votre téléphone le demande",
    expired: "Cette eSIM a expiré et n’est plus utilisable.",
    suspended: "Cette eSIM est suspendue. Adressez-vous au vendeur.",
    test: "Ceci est une eSIM de test. Aucun téléphone ne peut l’installer.",
    seller: "Vendu par",
    support: "Aide",
    data: "Données",
    validity: "Valable",
    coverage: "Utilisable en",
    more: "et {n} autres",
    wrongTitle: "Ce lien ne fonctionne pas",
    wrong:
      "L’adresse est incomplète, ou l’eSIM n’est pas encore prête. Rouvrez le lien de votre message, ou " +
      "copiez-le en entier. Si cela n’aide pas, adressez-vous au vendeur.",
  },
  es: {
    title: "Instala tu eSIM",
    lead:
      "Conéctate primero a una red Wi-Fi. Una eSIM solo se puede instalar una vez: no la borres " +
      "después del teléfono.",
    apple: "Instalar en iPhone o iPad",
    android: "Instalar en Android",
    otherwise:
      "Desde iOS 17.4 y en teléfonos Android recientes. Si no se abre nada, escanea o escribe el código de abajo.",
    scan: "Escanea el código",
    scanHow: "Abre esta página en otra pantalla. En el teléfono, añade una eSIM en los ajustes de red móvil y escanea:",
    qrAlt: "Código QR de la eSIM",
    type: "O escríbelo a mano",
    typeHow: "En el mismo lugar, elige introducir los datos manualmente.",
    smdpAddress: "Dirección SM-DP+",
    activationCode: "Código de activación",
    confirmationCode: "Código de confirmación",
    wholeCode: "Todo en una línea, si el teléfono lo pide",
    expired: "Esta eSIM ha caducado y ya no se puede usar.",
    suspended: "Esta eSIM está suspendida. Consulta a la tienda donde la compraste.",
    test: "Esta es una eSIM de prueba. Ningún teléfono puede instalarla.",
    seller: "Vendido por",
    support: "Ayuda",
    data: "Datos",
    validity: "Válido",
    coverage: "Funciona en",
    more: "y {n} más",
    wrongTitle: "Este enlace no funciona",
    wrong:
      "La dirección está incompleta o la eSIM aún no está lista. Abre de nuevo el enlace de tu mensaje o " +
      "cópialo entero. Si no sirve, consulta a la tienda donde la compraste.",
  },
  ja: {
    title: "eSIMのインストール",
    lead: "先にWi-Fiに接続してください。eSIMは一度しかインストールできません。インストール後は端末から削除しないでください。",
    apple: "iPhone・iPadにインストール",
    android: "Androidにインストール",
    otherwise: "iOS 17.4以降と最近のAndroid端末で使えます。開かない場合は、下のコードを読み取るか入力してください。",
    scan: "コードを読み取る",
    scanHow: "このページを別の画面で開き、スマートフォンのモバイル通信設定で「eSIMを追加」を選んで読み取ります。",
    qrAlt: "eSIMのQRコード",
    type: "手動で入力する",
    typeHow: "同じ画面で手動入力を選びます。",
    smdpAddress: "SM-DP+アドレス",
    activationCode: "アクティベーションコード",
    confirmationCode: "確認コード",
    wholeCode: "1行で入力する端末の場合",
    expired: "このeSIMは有効期限が切れており、利用できません。",
    suspended: "このeSIMは一時停止中です。購入した販売店にお問い合わせください。",
    test: "これはテスト用のeSIMです。端末にはインストールできません。",
    seller: "販売元",
    support: "お問い合わせ",
    data: "データ容量",
    validity: "有効期間",
    coverage: "利用できる国・地域",
    more: "ほか{n}か国・地域",
    wrongTitle: "このリンクは使えません",
    wrong:
      "アドレスが途中で切れているか、eSIMの準備がまだできていません。メッセージのリンクをもう一度開くか、全体をコピーしてください。解決しない場合は、購入した販売店にお問い合わせください。",
  },
  "zh-Hans": {
    title: "安装您的 eSIM",
    lead: "请先连接 Wi-Fi。eSIM 只能安装一次，安装后请勿从手机中删除。",
    apple: "安装到 iPhone 或 iPad",
    android: "安装到 Android 手机",
    otherwise: "适用于 iOS 17.4 及以上版本和较新的 Android 手机。如果没有反应，请扫描或输入下方代码。",
    scan: "扫描二维码",
    scanHow: "在另一块屏幕上打开本页，然后在手机的移动网络设置中添加 eSIM 并扫描：",
    qrAlt: "eSIM 二维码",
    type: "或手动输入",
    typeHow: "在同一处选择手动输入信息。",
    smdpAddress: "SM-DP+ 地址",
    activationCode: "激活码",
    confirmationCode: "确认码",
    wholeCode: "完整代码（如手机要求单行输入）",
    expired: "此 eSIM 已过期，无法再使用。",
    suspended: "此 eSIM 已暂停使用，请联系您购买的商家。",
    test: "这是测试 eSIM，无法安装到手机上。",
    seller: "销售方",
    support: "帮助",
    data: "流量",
    validity: "有效期",
    coverage: "适用地区",
    more: "等另外 {n} 个",
    wrongTitle: "此链接无效",
    wrong: "地址不完整，或 eSIM 尚未准备好。请重新打开消息中的链接，或复制完整链接。如仍无法打开，请联系您购买的商家。",
  },
} as const satisfies Record<string, InstallWords>;

export type InstallLanguage = keyof typeof installWords;

// Browsers ask for zh-CN and zh; what we have is written for all who read simplified characters.
const offered: Readonly<Record<string, InstallLanguage>> = {
  en: "en",
  de: "de",
  fr: "fr",
  es: "es",
  ja: "ja",
  zh: "zh-Hans",
};

/** The language of the install page that suits a browser's Accept-Language best; English for all others. */
export function chooseLanguage(acceptLanguage: string | undefined): InstallLanguage {
  const headers = { "accept-language": acceptLanguage };
  const chosen = new Negotiator({ headers }).language(Object.keys(offered)) ?? "en";
  return offered[chosen] ?? "en";
}
