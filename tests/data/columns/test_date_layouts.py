"""Dates written as text, in the layouts that tables have."""

import numpy as np
import polars as pl
import pytest

from thetahat.data.columns.date_layouts import DATE_LAYOUTS, alike_layouts, read_dates
from thetahat.interfaces.tables.columns import find_columns, retyped

WRITTEN = {
    "2019-02-26": "%Y-%m-%d",
    "Feb 26, 2019": "%B %d, %Y",
    "February 26, 2019": "%B %d, %Y",
    "26 Feb 2019": "%d %B %Y",
    "26-FEB-19": "%d-%B-%y",
    "26.02.2019 13:45": "%d.%m.%Y %H:%M",
    "2/26/2019 1:45 PM": "%m/%d/%Y %I:%M %p",
    "02/26/19": "%m/%d/%y",
    "26-02-2019": "%d-%m-%Y",
    "2019.02.26": "%Y.%m.%d",
    "2019-02-26T13:45:00Z": "%Y-%m-%dT%H:%M:%S%.f%#z",
    "2019-02-26 13:45:00.123": "%Y-%m-%d %H:%M:%S%.f",
    "2019-02": "%Y-%m",
    "02/2019": "%m/%Y",
    "Feb 2019": "%B %Y",
}


def column(values, **asked):
    return find_columns(pl.DataFrame({"when": values}), asked)[0]


@pytest.mark.parametrize("text", WRITTEN)
def test_the_command_and_the_check_read_the_same_date(text):
    found = column([text, text.replace("19", "21")] * 2)
    assert (found.kind, found.written) == ("date", WRITTEN[text])
    seconds = found.values.dt.epoch("s").to_numpy()
    np.testing.assert_allclose(read_dates([text])[0], seconds[0] / 86_400, atol=1e-5)
    day = np.datetime64("2019-02-01" if "26" not in text else "2019-02-26")
    assert np.datetime64(int(seconds[0]), "s").astype("datetime64[D]") == day


@pytest.mark.parametrize(
    "values", [["3/10", "1/12"], ["1.10.2", "1.2.10"], ["2009-10", "2018-19"], ["10-20", "1-2"]]
)
def test_fractions_versions_and_ranges_are_no_dates(values):
    assert column(values * 5).kind == "categorical"
    assert read_dates(values) is None


def test_days_without_separators_are_dates_and_other_numbers_are_not():
    assert column(["20190226", "20190301"] * 5).written == "%Y%m%d"
    assert column(["20190226", "20191301"] * 5).kind == "numeric"


def test_rows_of_another_file_may_lack_the_time_of_day():
    """A spreadsheet writes midnight, a text file does not."""
    read = retyped(pl.Series("when", ["2022-01-03", "x"]), "date", "%Y-%m-%d %H:%M:%S")
    assert str(read[0]) == "2022-01-03 00:00:00"
    assert read[1] is None
    assert column(["2022-01-03", "2022-01-03 10:00"] * 3).kind == "date"


@pytest.mark.parametrize("layout", ["%m/%d/%Y", "%d-%m-%Y", "%m/%d/%y"])
def test_day_and_month_are_never_exchanged(layout):
    swapped = {"%m/%d/": "%d/%m/", "%d-%m-": "%m-%d-"}[layout[:6]]
    assert layout in DATE_LAYOUTS
    assert not any(each.startswith(swapped) for each in alike_layouts(layout))
