"""Words that a chart writes on itself, by language."""

from typing import Final

from pslc.charts.style import Axis, Language

AXES: Final[dict[Language, dict[Axis, str]]] = {
    Language.EN: {Axis.BYTES: "GB written", Axis.PERCENT: "% of the drive written", Axis.TIME: "minutes"},
    Language.DE: {Axis.BYTES: "GB geschrieben", Axis.PERCENT: "% des Laufwerks geschrieben", Axis.TIME: "Minuten"},
    Language.ES: {Axis.BYTES: "GB escritos", Axis.PERCENT: "% de la unidad escrito", Axis.TIME: "minutos"},
    Language.FR: {Axis.BYTES: "Go écrits", Axis.PERCENT: "% du disque écrit", Axis.TIME: "minutes"},
}
SECONDS: Final = {
    Language.EN: "seconds", Language.DE: "Sekunden", Language.ES: "segundos", Language.FR: "secondes",
}  # fmt: skip
CAUSES: Final[dict[Language, dict[str, str]]] = {
    Language.EN: {
        "pslc": "pSLC cache", "direct": "straight to native cells", "fold": "folding", "native": "native cells",
        "gc": "garbage collection", "map": "mapping table", "link": "link", "host": "host", "cpu": "CPU of the host",
        "page-cache": "page cache of the host", "dram": "write buffer", "flush": "flushes",
        "thermal": "thermal throttling", "power": "power state", "other": "other work", "unknown": "",
    },
    Language.DE: {
        "pslc": "pSLC-Cache", "direct": "direkt in native Zellen", "fold": "Falten", "native": "native Zellen",
        "gc": "Garbage Collection", "map": "Zuordnungstabelle", "link": "Schnittstelle", "host": "Rechner",
        "cpu": "CPU des Rechners", "page-cache": "Seitencache des Rechners", "dram": "Schreibpuffer",
        "flush": "Flushes", "thermal": "thermische Drosselung", "power": "Energiezustand", "other": "andere Arbeit",
    },
    Language.ES: {
        "pslc": "caché pSLC", "direct": "directo a celdas nativas", "fold": "plegado", "native": "celdas nativas",
        "gc": "recolección de basura", "map": "tabla de mapeo", "link": "interfaz", "host": "equipo",
        "cpu": "CPU del equipo", "page-cache": "caché de páginas", "dram": "búfer de escritura", "flush": "flushes",
        "thermal": "limitación térmica", "power": "estado de energía", "other": "otro trabajo",
    },
    Language.FR: {
        "pslc": "cache pSLC", "direct": "direct en cellules natives", "fold": "repliement",
        "native": "cellules natives", "gc": "ramasse-miettes", "map": "table de correspondance", "link": "interface",
        "host": "hôte", "cpu": "processeur de l'hôte", "page-cache": "cache de pages", "dram": "tampon d'écriture",
        "flush": "flushs", "thermal": "limitation thermique", "power": "état d'alimentation", "other": "autre travail",
    },
}  # fmt: skip
CACHE_END: Final = {
    Language.EN: "cache ends at {size}",
    Language.DE: "Cache endet bei {size}",
    Language.ES: "la caché termina a los {size}",
    Language.FR: "fin du cache à {size}",
}
BAND: Final = {
    Language.EN: "line: mean; band: 10 to 90 %",
    Language.DE: "Linie: Mittel; Band: 10 bis 90 %",
    Language.ES: "línea: media; banda: 10 a 90 %",
    Language.FR: "ligne : moyenne ; bande : 10 à 90 %",
}
SPREAD: Final = {
    Language.EN: "whiskers: 90 % interval",
    Language.DE: "Striche: 90-%-Intervall",
    Language.ES: "líneas: intervalo del 90 %",
    Language.FR: "traits : intervalle à 90 %",
}
